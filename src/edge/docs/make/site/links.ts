import { GUIDES } from './places.ts';

/** How the pages of the site refer to one another. All links are relative, so the site works below any path. */
export interface Links {
  /** The link to a page; the name of the first page is ''. */
  page(name: string): string;
  /** The link to a file that pages load. */
  file(name: string): string;
  /** The link to a document of the service: `openapi.json`. */
  document(name: string): string;
  /** True when the site is a folder of files: then there is no service that could be called. */
  isFolder: boolean;
}

/** Links from a page of a running service: `/docs` and `/docs/NAME`. */
export function linksOfService(from: string): Links {
  const isFirst = from === '';
  const below = (name: string): string => (isFirst ? `docs/${name}` : name);
  return {
    page: (name) => (name === '' ? `${isFirst ? '' : '../'}docs` : below(name)),
    file: below,
    document: (name) => (isFirst ? name : `../${name}`),
    isFolder: false,
  };
}

/** Links from a page in a folder, in which all files lie side by side. */
export const linksOfFolder: Links = {
  page: (name) => `${name === '' ? 'index' : name}.html`,
  file: (name) => name,
  document: (name) => name,
  isFolder: true,
};

/** Resolves a relative path in a document: `../README.md` in `docs/qa.md` is `README.md`. */
function resolvedPath(file: string, path: string): string {
  const parts = file.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/**
 * The link on the site for a link in a document. A link to another host, or to an anchor of the same page, stays as it
 * is. Null for a file that is not part of the site, such as a file of the source.
 */
export function siteLink(link: string, file: string, links: Links): string | null {
  if (/^(https?:|#)/.test(link)) return link;
  const [path = '', anchor] = link.split('#');
  const target = resolvedPath(file, path);
  const guide = GUIDES.find((one) => one.file === target);
  if (!guide) return null;
  return links.page(guide.name) + (anchor === undefined ? '' : `#${anchor}`);
}
