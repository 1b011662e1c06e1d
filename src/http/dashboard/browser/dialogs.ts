/**
 * A link with `data-asks` leads to a page with a question. Here the question of that page is asked in a dialog; where
 * it cannot be fetched, the link does what links do.
 */
export function askInDialogs(): void {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[data-asks]') : null;
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    ask(link.href).catch(() => location.assign(link.href));
  });
}

async function ask(url: string): Promise<void> {
  const answer = await fetch(url);
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const form = page.querySelector('#question');
  if (!answer.ok || form === null) throw new Error(url);
  const title = document.createElement('h2');
  title.id = 'dialog-title';
  title.textContent = page.querySelector('h1')?.textContent ?? '';
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', title.id);
  dialog.append(title, form);
  const close = dialog.querySelector<HTMLElement>('[data-close]');
  close?.addEventListener('click', (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  (dialog.querySelector<HTMLElement>('input:not([type=hidden])') ?? close)?.focus();
}
