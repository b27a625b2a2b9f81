import { type ComponentChildren, type ComponentType, h, type JSX, type VNode } from 'preact';

type Tags = JSX.IntrinsicElements;
type Child = ComponentChildren;
type Attributes<Tag extends keyof Tags> = Tags[Tag] & { readonly [name: `data-${string}`]: string };

/**
 * Makes the function that creates elements of one kind, such as `div`. It takes attributes or null, then children. The
 * compiler checks both.
 */
const maker =
  <Tag extends keyof Tags>(tag: Tag) =>
  (attributes: Attributes<Tag> | null, ...children: Child[]): VNode =>
    h(tag as 'div', attributes as Tags['div'], ...children);

export const a = maker('a');
export const aside = maker('aside');
export const button = maker('button');
export const code = maker('code');
export const datalist = maker('datalist');
export const dd = maker('dd');
export const details = maker('details');
export const dialog = maker('dialog');
export const div = maker('div');
export const dl = maker('dl');
export const dt = maker('dt');
export const fieldset = maker('fieldset');
export const form = maker('form');
export const h1 = maker('h1');
export const h2 = maker('h2');
export const kbd = maker('kbd');
export const h3 = maker('h3');
export const header = maker('header');
export const input = maker('input');
export const label = maker('label');
export const legend = maker('legend');
export const li = maker('li');
export const main = maker('main');
export const nav = maker('nav');
export const ol = maker('ol');
export const option = maker('option');
export const p = maker('p');
export const path = maker('path');
export const pre = maker('pre');
export const progress = maker('progress');
export const section = maker('section');
export const select = maker('select');
export const small = maker('small');
export const span = maker('span');
export const strong = maker('strong');
export const summary = maker('summary');
export const svg = maker('svg');
export const table = maker('table');
export const tbody = maker('tbody');
export const td = maker('td');
export const textarea = maker('textarea');
export const th = maker('th');
export const thead = maker('thead');
export const time = maker('time');
export const tr = maker('tr');
export const wbr = maker('wbr');
export const ul = maker('ul');

/** Places a component with its properties in the page. In a list, each needs its own `key`. */
export const use = <Props extends object>(
  component: (properties: Props) => Child,
  properties: Props & { key?: string | number },
  ...children: Child[]
): VNode => h(component as unknown as ComponentType<object>, properties, ...children);

export type { Child, VNode };
