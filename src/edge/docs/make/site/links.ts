import { SLOTS } from '../../slots.ts';
import { GUIDES } from './places.ts';

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
export function siteLink(link: string, file: string): string | null {
  if (/^(https?:|#)/.test(link)) return link;
  const [path = '', anchor] = link.split('#');
  const target = resolvedPath(file, path);
  const guide = GUIDES.find((one) => one.file === target);
  if (!guide) return null;
  return SLOTS.page(guide.name) + (anchor === undefined ? '' : `#${anchor}`);
}
