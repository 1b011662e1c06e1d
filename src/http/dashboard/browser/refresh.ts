/**
 * Keeps tables of running work up to date. While work runs and the page is visible, the page is fetched again and its
 * tables are replaced.
 */
const PAUSE_MS = 3_000;

/** Cell by cell, where the rows are the same: focus and scroll position stay. */
function takeOver(old: Element, fresh: Element): void {
  if (old.isEqualNode(fresh)) return;
  const [had, has] = [old.querySelectorAll('td'), fresh.querySelectorAll('td')];
  if (rowsOf(old) !== rowsOf(fresh) || had.length !== has.length) {
    old.replaceWith(fresh);
    return;
  }
  for (const [index, cell] of had.entries()) {
    const next = has[index];
    if (next !== undefined && !cell.isEqualNode(next)) cell.replaceWith(next);
  }
}

/** Of what each row shows. */
function rowsOf(section: Element): string {
  return [...section.querySelectorAll('tr')].map((row) => row.querySelector('code')?.textContent).join();
}

async function look(): Promise<void> {
  const live = document.getElementById('live');
  if (live?.dataset['running'] === undefined) return;
  if (!document.hidden) {
    const answer = await fetch(location.href);
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const fresh = page.getElementById('live');
    if (answer.ok && fresh !== null) show(live, fresh);
  }
  setTimeout(again, PAUSE_MS);
}

/** What the reader has unfolded stays so. */
function keepOpen(live: HTMLElement, fresh: HTMLElement): void {
  for (const { id } of live.querySelectorAll('details[open][id]')) {
    const next = [...fresh.querySelectorAll('details')].find((details) => details.id === id);
    if (next !== undefined) next.open = true;
  }
}

function show(live: HTMLElement, fresh: HTMLElement): void {
  keepOpen(live, fresh);
  const [old, next] = [[...live.children], [...fresh.children]];
  if (old.length !== next.length) live.replaceChildren(...next);
  else for (const [index, section] of old.entries()) takeOver(section, next[index] ?? section);
  if (fresh.dataset['running'] === undefined) delete live.dataset['running'];
}

function again(): void {
  // A server that cannot be reached for a moment is asked again.
  look().catch(() => setTimeout(again, PAUSE_MS));
}

setTimeout(again, PAUSE_MS);

export {};
