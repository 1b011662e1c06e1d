/** Switches between light and dark without loading the page, which may hold an unsaved transcript. */
export function switchTheme(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form.theme')) {
    form.addEventListener('submit', (event) => {
      const button = event.submitter;
      if (!(button instanceof HTMLButtonElement)) return;
      event.preventDefault();
      show(form, button);
      const body = new URLSearchParams({ theme: button.value });
      void fetch(form.action, { method: 'POST', body, redirect: 'manual' });
    });
  }
}

function show(form: HTMLFormElement, chosen: HTMLButtonElement): void {
  const { value } = chosen;
  const root = document.documentElement;
  if (value === 'system') delete root.dataset['theme'];
  else root.dataset['theme'] = value;
  const meta = document.querySelector<HTMLMetaElement>('meta[name=color-scheme]');
  if (meta !== null) meta.content = value === 'system' ? 'light dark' : value;
  for (const button of form.querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button === chosen));
  }
}
