import { type Document, isMap, isNode, isPair, type LineCounter, type Scalar } from 'yaml';

/** A path in a document: keys and list indexes. */
export type YamlPath = readonly (string | number)[];

/** A path for people: `endpoints[0].url`. */
export const writtenPath = (path: YamlPath): string =>
  path.map((key, place) => (typeof key === 'number' ? `[${key}]` : place === 0 ? key : `.${key}`)).join('');

/** The line of the value at a path; if it is missing, the line of its parent; null in an empty document. */
export function lineOf(document: Document, lines: LineCounter, path: YamlPath): number | null {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1];
    const pair = isMap(parent) ? parent.items.find((item) => isPair(item) && (item.key as Scalar).value === key) : null;
    const node = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return isNode(document.contents) && document.contents.range ? lines.linePos(document.contents.range[0]).line : null;
}
