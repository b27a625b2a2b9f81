import { parseExact } from '@lapel/schemas/base/exact-json';
import { pre, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';

/** Indents a text that is JSON; any other text stays as it is. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(parseExact(text), null, 2);
  } catch {
    return text;
  }
}

export const json = (value: unknown): VNode =>
  pre(
    { class: 'json', tabIndex: 0 },
    visible(typeof value === 'string' ? pretty(value) : JSON.stringify(value, null, 2)),
  );
