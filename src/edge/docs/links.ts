import { fileOfPage, isText, pageOfFile, textFileOfPage } from './names.ts';

/**
 * How the files of the site refer to one another. Links of pages are relative, so the site works below any path; those of
 * texts name the service, because a text is read away from it.
 */
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

/** Links of a text of a running service: to other texts. */
const linksOfTexts = (publicUrl: string): Links => ({
  page: (name) => `${publicUrl}/docs/${textFileOfPage(name)}`,
  file: (name) => `${publicUrl}/docs/${name}`,
  document: (name) => `${publicUrl}/${name}`,
  isFolder: false,
});

/** Links from a file of a running service with this URL (without a slash at its end). */
export function linksOfService(file: string, publicUrl: string): Links {
  if (isText(file)) return linksOfTexts(publicUrl);
  // Addresses of the index are relative to a page below /docs, as most pages are.
  return linksOfPage(pageOfFile(file) ?? file);
}

/** Links from a page of a running service: `/docs` and `/docs/NAME`. */
function linksOfPage(from: string): Links {
  const isFirst = from === '';
  const below = (name: string): string => (isFirst ? `docs/${name}` : name);
  return {
    page: (name) => (name === '' ? `${isFirst ? '' : '../'}docs` : below(name)),
    file: below,
    document: (name) => (isFirst ? name : `../${name}`),
    isFolder: false,
  };
}

/** Links from a file in a folder, in which all files lie side by side. */
export const linksOfFolder = (file: string): Links => ({
  page: isText(file) ? textFileOfPage : fileOfPage,
  file: (name) => name,
  document: (name) => name,
  isFolder: true,
});
