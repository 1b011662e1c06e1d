/** What every page has: times in the reader's zone, the theme's switch, questions in dialogs, menus, tabs. */
import { askInDialogs } from './dialogs.js';
import { closeMenus } from './menus.js';
import { showTabs } from './tabs.js';
import { switchTheme } from './theme.js';
import { localizeTimes } from './times.js';

localizeTimes(document);
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) if (node instanceof Element) localizeTimes(node);
  }
}).observe(document.getElementById('main') ?? document.body, { childList: true, subtree: true });

switchTheme();
askInDialogs();
closeMenus();
showTabs();
