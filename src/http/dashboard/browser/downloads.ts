/** Links to files that this page has made. */
let urls: string[] = [];

export interface NamedFile {
  name: string;
  content: string;
}

/** In place of those of the answer before, whose files are given up. `saved`: one of them is. */
export function offerFiles(list: HTMLElement, files: readonly NamedFile[], saved: () => void): void {
  for (const url of urls) URL.revokeObjectURL(url);
  urls = [];
  list.replaceChildren(
    ...files.map(({ name, content }) => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([content], { type: 'text/plain' }));
      urls.push(link.href);
      link.download = name;
      link.textContent = name;
      link.addEventListener('click', saved);
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
}
