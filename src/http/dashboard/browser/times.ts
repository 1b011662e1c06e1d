/** Times in the reader's zone; UTC, as the server wrote it, is their title. */
const { lang } = document.documentElement;
/** The page's language as it is written where the reader lives. */
const locale = navigator.languages.find((one) => one.split('-')[0] === lang) ?? lang;
const format = new Intl.DateTimeFormat(locale, {
  ...{ year: 'numeric', month: 'short', day: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
});

export function localizeTimes(root: ParentNode): void {
  const inside = [...root.querySelectorAll<HTMLTimeElement>('time[title]')];
  if (root instanceof HTMLTimeElement && root.title !== '') inside.push(root);
  for (const time of inside) {
    const at = Date.parse(time.dateTime);
    if (Number.isNaN(at)) continue;
    const text = format.format(at);
    if (time.textContent !== text) time.textContent = text;
  }
}
