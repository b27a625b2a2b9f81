import { fileOfPage } from './names.ts';

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
  page: fileOfPage,
  file: (name) => name,
  document: (name) => name,
  isFolder: true,
};
