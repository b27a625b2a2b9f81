/** The names of files of the site with a form of their own. */
export const OPEN_API = 'openapi.json';
export const ASYNC_API = 'asyncapi.json';
/** The overview of all documents for language models. */
export const OVERVIEW = 'llms.txt';
/** The engine of the search, and its index. */
export const SEARCH = 'search.js';
export const SEARCH_INDEX = 'search-index.js';

/** The paths of the documents that are not below `/docs`. */
export const DOCUMENTS = [`/${OPEN_API}`, `/${ASYNC_API}`, `/${OVERVIEW}`] as const;

/** The file of a page of the site; the name of the first page is ''. */
export const fileOfPage = (page: string): string => `${page === '' ? 'index' : page}.html`;

/** The file with the text of a page in Markdown. */
export const textFileOfPage = (page: string): string => `${page === '' ? 'index' : page}.md`;

/** True for a file that is read as Markdown: the text of a page, and the overview. */
export const isText = (name: string): boolean => pageOfTextFile(name) !== undefined || name === OVERVIEW;

function pageWith(ending: string, name: string): string | undefined {
  if (!name.endsWith(ending)) return undefined;
  const page = name.slice(0, -ending.length);
  return page === 'index' ? '' : page;
}

/** The page of a file of the site; undefined for a file that is no page. */
export const pageOfFile = (name: string): string | undefined => pageWith('.html', name);

/** The page whose text a file of the site has; undefined for any other file. */
export const pageOfTextFile = (name: string): string | undefined => pageWith('.md', name);

/** The path of a file of the site at a service. */
export function pathOf(name: string): string {
  const page = pageOfFile(name);
  if (page !== undefined) return page === '' ? '/docs' : `/docs/${page}`;
  const path = `/${name}`;
  return (DOCUMENTS as readonly string[]).includes(path) ? path : `/docs${path}`;
}

/** The anchor that a heading gets, as on GitHub, because the documents are read there as well. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
