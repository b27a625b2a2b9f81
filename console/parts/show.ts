import { now } from '../base/clock.ts';
import {
  a,
  type Child,
  code,
  dd,
  div,
  dt,
  h2,
  header,
  p,
  section,
  span,
  time,
  use,
  type VNode,
  wbr,
} from '../base/elements.ts';
import { ago, between, duration, visible, when } from '../base/format.ts';
import { copyIcon } from './copy.ts';

/** Small elements that many pages use. */

export type Tone = 'good' | 'warn' | 'bad' | 'calm' | '';

export const badge = (tone: Tone, text: string): VNode => span({ class: `badge ${tone}` }, text);

/** A word that stays on one line, such as a version. */
const SHORT_WORD = /^[\w.+-]{1,12}$/;

/** Shows a text that comes from a device or a customer, with characters that could deceive made visible. */
export const said = (text: string | null | undefined): VNode =>
  text === null || text === undefined || text === ''
    ? nothing()
    : span({ class: SHORT_WORD.test(text) ? 'nowrap' : 'wrap', dir: 'auto' }, visible(text));

export const nothing = (): VNode => span({ class: 'quiet' }, '–');

const Age = ({ at }: { at: string }) =>
  time({ dateTime: at, title: `${when(at)} (${at})`, class: 'num' }, ago(now.value - Date.parse(at)));

/** Shows how long ago something was, as `3 min ago`; the tooltip shows the time. */
export const age = (at: string | null | undefined): VNode => (at ? use(Age, { at }) : nothing());

const Since = ({ at }: { at: string }) =>
  time(
    { dateTime: at, title: `${when(at)} (${at})`, class: 'num' },
    duration(Math.max(1000, now.value - Date.parse(at))),
  );

/** Shows the time that has passed since `at`. */
export const since = (at: string | null | undefined): VNode => (at ? use(Since, { at }) : nothing());

const Until = ({ at }: { at: string }) => {
  const left = Date.parse(at) - now.value;
  return time({ dateTime: at, title: when(at), class: 'num' }, left <= 0 ? 'now' : `in ${duration(left)}`);
};
export const until = (at: string | null | undefined): VNode => (at ? use(Until, { at }) : nothing());

const Moment = ({ at }: { at: string }) => time({ dateTime: at, title: at, class: 'num nowrap' }, when(at));
export const moment = (at: string | null | undefined): VNode => (at ? use(Moment, { at }) : nothing());

/** Formats the time between two moments; null while one of them is unknown. */
export const gapOf = (from: string | null, to: string | null): string | null =>
  from === null || to === null ? null : duration(between(from, to));

/** Characters up to which an identifier stays on one line: a deviceId has 15. */
const WHOLE = 16;

/**
 * Shows a text that may be broken into lines behind the slashes of a path, the dots of a package, its "@", the
 * underscores of a code, and before the capitals of a member, so that the names between them stay whole.
 */
export const breakable = (text: string): Child =>
  visible(text)
    .split(/(?<=[^/:][/@])|(?<=\w\.)(?=[A-Za-z])|(?<=[A-Z]_)(?=[A-Z])|(?<=[a-z])(?=[A-Z][a-z])/)
    .flatMap((part, index) => (index === 0 ? [part] : [wbr(null), part]));

/** Shows an identifier inside of a link or a sentence. */
export const bareId = (text: string | number): VNode =>
  code({ class: String(text).length <= WHOLE ? 'whole' : undefined }, breakable(String(text)));

/** Shows an identifier, with a button that copies it. */
export const id = (text: string | number): VNode => span({ class: 'id' }, bareId(text), copyIcon(String(text)));

export const idLink = (href: string, text: string | number): VNode =>
  span({ class: 'id' }, a({ href }, bareId(text)), copyIcon(String(text)));

/** Shows a URL that somebody entered; only http and https URLs become links. */
export function outside(url: string | null | undefined): VNode {
  if (!url) return nothing();
  const isWeb = /^https?:\/\//i.test(url) && URL.canParse(url);
  if (!isWeb) return code({ class: 'wrap' }, visible(url));
  return a({ href: url, target: '_blank', rel: 'noreferrer noopener', class: 'wrap' }, breakable(url));
}

/** Makes an entry of a list of facts. */
export const fact = (name: string, value: Child): VNode =>
  div({ key: name }, dt(null, breakable(name)), dd(null, value));

interface Card {
  title: string;
  /** Elements on the right of the card's title. */
  side?: Child;
  /** True when the content extends to the edges of the card. */
  bare?: boolean;
}
export const card = ({ title, side, bare = false }: Card, ...children: Child[]): VNode =>
  section(
    { class: 'card', 'aria-label': title },
    header(null, h2(null, title), side),
    bare ? children : div({ class: 'pad' }, children),
  );

interface Empty {
  title: string;
  text?: string;
  /** A command for the reader to type. */
  command?: string;
}
/** Is shown in place of an empty list: it says what is missing, and how to add it. */
export const empty = ({ title, text, command }: Empty, ...actions: Child[]): VNode =>
  div(
    { class: 'empty' },
    p({ class: 'title' }, title),
    text ? p(null, text) : null,
    command ? code(null, command) : null,
    ...actions,
  );

const WIDTHS = ['bone-1', 'bone-2', 'bone-3'];
/** A placeholder in the shape of lines of text, until a value has arrived. */
export const skeleton = (lines = 5): VNode =>
  div(
    { class: 'bones', role: 'status', 'aria-busy': 'true', 'aria-label': 'Loading' },
    Array.from({ length: lines }, (_, n) => span({ class: `bone ${WIDTHS[n % 3]}` })),
  );
