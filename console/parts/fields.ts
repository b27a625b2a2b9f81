import type { JSX } from 'preact';
import { type Child, input, label, option, select, span, type VNode } from '../base/elements.ts';

interface Field {
  name: string;
  label: string;
  hint?: string;
  value?: string;
  required?: boolean;
}

const field = (words: string, hint: string | undefined, control: Child): VNode =>
  label({ class: 'field' }, span(null, words), control, hint === undefined ? null : span({ class: 'hint' }, hint));

/** A field with a control of its own. */
export const controlField = (words: string, hint: string, control: Child): VNode => field(words, hint, control);

export const textField = (
  { name, label: words, hint, value = '', required = false }: Field,
  more: JSX.IntrinsicElements['input'] = {},
): VNode =>
  field(
    words,
    hint,
    input({ type: 'text', name, defaultValue: value, required, autoComplete: 'off', spellcheck: false, ...more }),
  );

export const choice = (
  { name, label: words, hint, value = '' }: Field,
  choices: readonly (readonly [value: string, words: string])[],
  more: JSX.IntrinsicElements['select'] = {},
): VNode =>
  field(
    words,
    hint,
    select(
      { name, defaultValue: value, ...more },
      choices.map(([one, text]) => option({ value: one, selected: one === value }, text)),
    ),
  );

export const tick = ({ name, label: words }: Pick<Field, 'name' | 'label'>, checked = false): VNode =>
  label({ class: 'tick' }, input({ type: 'checkbox', name, defaultChecked: checked }), span(null, words));

/** The fields for changes of the tags of many devices. */
export const tagChangeFields = (): VNode[] => [
  textField({ name: 'set', label: 'Set', hint: 'As wave=1, site=osaka.' }),
  textField({ name: 'remove', label: 'Remove', hint: 'Keys, as old, ring.' }),
];
