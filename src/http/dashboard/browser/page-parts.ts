/** Elements of the page by their ids, and its texts with their {names} filled in. */
export type Texts = Readonly<Record<string, string>>;

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}.`);
  return found;
}

export function filledIn(texts: Texts, name: string, values: Readonly<Record<string, string | number>> = {}): string {
  return (texts[name] ?? '').replace(/\{(\w+)\}/g, (_, key: string) => String(values[key] ?? ''));
}

/** A screen reader would read an unchanged text again. */
export function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Empty: nothing. */
export function chosenIn(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === 'string' ? value : '';
}

/** Minutes and seconds. */
export function clockText(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}
