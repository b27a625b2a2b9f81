import { a, type Child, div, span, type VNode } from '../base/elements.ts';

interface Figure {
  name: string;
  value: string;
  note?: Child;
  href?: string | undefined;
  tone?: 'bad' | 'warn' | undefined;
}

/** A large number with its name and a note, for a grid of figures. */
export function figure({ name, value, note, href, tone }: Figure): VNode {
  const inside = [span({ class: 'name' }, name), span({ class: 'value' }, value), span({ class: 'hint' }, note)];
  const looks = `figure ${tone ? `is-${tone}` : ''}`;
  return href === undefined ? div({ class: looks }, ...inside) : a({ class: looks, href }, ...inside);
}
