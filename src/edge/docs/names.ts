/** The names of files of the site with a form of their own. */
export const OPEN_API = 'openapi.json';
export const ASYNC_API = 'asyncapi.json';
/** The engine of the search, and its index. */
export const SEARCH = 'search.js';
export const SEARCH_INDEX = 'search-index.js';

/** The paths of the two documents of the API. */
export const DOCUMENTS = [`/${OPEN_API}`, `/${ASYNC_API}`] as const;

/** The file of a page of the site; the name of the first page is ''. */
export const fileOfPage = (page: string): string => `${page === '' ? 'index' : page}.html`;

/** The page of a file of the site; undefined for a file that is no page. */
export function pageOfFile(name: string): string | undefined {
  if (!name.endsWith('.html')) return undefined;
  const page = name.slice(0, -'.html'.length);
  return page === 'index' ? '' : page;
}

/** The path of a file of the site at a service. */
export function pathOf(name: string): string {
  const page = pageOfFile(name);
  if (page !== undefined) return page === '' ? '/docs' : `/docs/${page}`;
  return name.endsWith('.json') ? `/${name}` : `/docs/${name}`;
}
