/** Tabs: one panel at a time, chosen with the pointer or with the arrow keys. */
export function showTabs(): void {
  for (const group of document.querySelectorAll<HTMLElement>('[data-tabs]')) begin(group);
}

function begin(group: HTMLElement): void {
  const list = group.querySelector<HTMLElement>('[role=tablist]');
  const tabs = [...group.querySelectorAll<HTMLButtonElement>('[role=tab]')];
  if (list === null) return;
  const panelOf = (tab: HTMLElement): HTMLElement | null =>
    document.getElementById(tab.getAttribute('aria-controls') ?? '');
  const choose = (chosen: HTMLButtonElement): void => {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      const panel = panelOf(tab);
      if (panel !== null) panel.hidden = !isChosen;
    }
  };
  for (const tab of tabs) {
    const panel = panelOf(tab);
    panel?.setAttribute('role', 'tabpanel');
    panel?.setAttribute('aria-labelledby', tab.id);
    tab.addEventListener('click', () => choose(tab));
  }
  list.addEventListener('keydown', (event) => {
    const next = tabs[destination(event.key, tabs.indexOf(event.target as HTMLButtonElement), tabs.length)];
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
    next.focus();
  });
  list.hidden = false;
  const [first] = tabs;
  if (first !== undefined) choose(first);
}

/** -1: the key leads to no tab. */
function destination(key: string, from: number, count: number): number {
  if (key === 'ArrowRight') return (from + 1) % count;
  if (key === 'ArrowLeft') return (from + count - 1) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : -1;
}
