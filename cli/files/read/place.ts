import { type Document, isMap, isNode, isPair, type LineCounter, type Scalar } from 'yaml';

/** A path in a document: keys and list indexes. */
export type Path = readonly (string | number)[];

/** A place in a file. */
export interface Place {
  file: string;
  line: number;
}

/** A mistake in a file, for people. */
export interface FileFault extends Place {
  /** The path of the field, as `endpoints[0].url`; empty for the whole file. */
  field: string;
  text: string;
}

export const written = (path: Path): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('');

export const faultText = ({ file, line, field, text }: FileFault): string =>
  `${file}:${line}: ${field === '' ? '' : `${field}: `}${text}`;

/** The line of the value at a path; if it is missing, the line of its parent. */
export function lineOf(document: Document, lines: LineCounter, path: Path): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1];
    const pair = isMap(parent) ? parent.items.find((item) => isPair(item) && (item.key as Scalar).value === key) : null;
    const node = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
