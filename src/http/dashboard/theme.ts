/** The switch between light and dark, and the cookie that it sets. */
import { THEME_COOKIE, THEMES, type Theme } from '../app/theme.js';
import { icon, type IconName } from './components/icon.js';
import { html, type Html } from './html.js';
import { PATHS } from './paths.js';
import type { Site } from './site.js';
import { TEXTS } from './texts.js';

const A_YEAR_SECONDS = 365 * 86_400;

export function themeCookie({ isSecure }: Site, theme: Theme): string {
  const life = theme === 'system' ? 0 : A_YEAR_SECONDS;
  return `${THEME_COOKIE}=${theme}; Path=/; Max-Age=${life}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

const ICONS: Readonly<Record<Theme, IconName>> = { system: 'system', light: 'light', dark: 'dark' };

/** `path`: of the page, to come back to. */
export function themeSwitch(chosen: Theme, path: string): Html {
  return html`<form class="theme" method="post" action="${PATHS.theme}" aria-label="${TEXTS.theme.title}">
    <input type="hidden" name="next" value="${path}" />
    ${THEMES.map(
      (theme) =>
        html`<button
          name="theme"
          value="${theme}"
          aria-pressed="${theme === chosen ? 'true' : 'false'}"
          aria-label="${TEXTS.theme[theme]}"
          title="${TEXTS.theme[theme]}"
        >
          ${icon(ICONS[theme])}
        </button>`,
    )}
  </form>`;
}
