/** Buttons that copy the text of the element that they name; without scripts they stay hidden. */
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const source = document.getElementById(button.dataset['copy'] ?? '');
  const status = button.parentElement?.querySelector('[role=status]');
  if (source === null) continue;
  button.hidden = false;
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(source.textContent).then(() => {
      if (status) status.textContent = button.dataset['copied'] ?? '';
    });
  });
}

export {};
