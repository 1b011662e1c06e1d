/** Which page of the manual stands where. A page that no group names comes last. */

const GROUPS = [
  ['Start', ['index', 'tutorial', 'install', 'gpu', 'troubleshooting']],
  ['Use', ['api', 'clients', 'live', 'library', 'dashboard', 'models', 'src/client/README']],
  ['Operate', ['settings', 'accounts', 'jobs', 'https', 'security', 'monitoring', 'backup', 'upgrade']],
  ['Grow', ['tuning', 'scale', 'postgresql']],
  ['How it works', ['internals/']],
  ['Measurements', ['bench/']],
  ['The project', ['project/', 'models/README']],
];
const REST = 'More';

/** `titles`: by the pages' files, such as `api.md`. */
export function sidebarOf(titles) {
  const left = new Map(Object.entries(titles).map(([file, title]) => [file.replace(/\.md$/, ''), title]));
  const groups = GROUPS.map(([text, names]) => {
    const found = names.flatMap((name) =>
      name.endsWith('/')
        ? [...left.keys()].filter((page) => page.startsWith(name)).sort()
        : left.has(name)
          ? [name]
          : [],
    );
    const items = found.map((name) => ({ text: left.get(name), link: name === 'index' ? '/' : `/${name}` }));
    for (const name of found) left.delete(name);
    return { text, items };
  });
  const rest = [...left].map(([name, text]) => ({ text, link: `/${name}` }));
  return [...groups, { text: REST, items: rest }].filter(({ items }) => items.length > 0);
}
