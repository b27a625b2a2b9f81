import { useEffect, useRef } from 'preact/hooks';
import { button, type Child, div, form, input, label, span, use, type VNode } from '../base/elements.ts';
import { filter as change, place } from '../base/place.ts';
import { fromField, toField, zoneName } from '../base/zone.ts';

/** A filter of a list: a parameter in the address of the page, and the field in which the user sets it. */
export interface Filter {
  name: string;
  label: string;
  /** The choices, each with its value and its label. Without choices the user types a text. */
  choices?: readonly (readonly [value: string, words: string])[];
  /** `time`: the user may also choose any date and time. */
  kind?: 'time';
  /** An example of the text that one may type. */
  hint?: string;
}

interface Editing {
  one: Filter;
  /** Called when the filter was set, or taken away. */
  done(): void;
}

/** The value of the field of a time, for a value of the address. */
const fieldOf = (given: string): string => {
  const at = Date.parse(given);
  return Number.isNaN(at) ? '' : toField(at);
};

function Editor({ one, done }: Editing) {
  const { name, label: words, choices = [], kind, hint } = one;
  const box = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const given = place.value.query[name] ?? '';
  const isTime = kind === 'time';
  useEffect(() => box.current?.querySelector<HTMLElement>('[aria-pressed=true], input, button')?.focus(), [name]);
  const set = (value: string): void => {
    change({ [name]: value });
    done();
  };
  const typed = (): void => {
    const text = field.current?.value.trim() ?? '';
    const at = isTime && text !== '' ? fromField(text) : Number.NaN;
    set(Number.isNaN(at) ? (isTime ? '' : text) : new Date(at).toISOString());
  };
  const chosen: Child =
    choices.length === 0
      ? null
      : div(
          { class: 'options', role: 'group', 'aria-label': words },
          choices.map(([value, text]) =>
            button({ type: 'button', key: value, 'aria-pressed': value === given, onClick: () => set(value) }, text),
          ),
        );
  const free: Child =
    choices.length > 0 && !isTime
      ? null
      : form(
          {
            class: 'fields tight',
            onSubmit: (event) => {
              event.preventDefault();
              typed();
            },
          },
          label(
            { class: 'field' },
            span(null, isTime ? `${words}, a time in ${zoneName()}` : words),
            isTime
              ? input({ ref: field, type: 'datetime-local', defaultValue: fieldOf(given) })
              : input({ ref: field, type: 'text', defaultValue: given, autoComplete: 'off', spellcheck: false }),
            hint === undefined ? null : span({ class: 'hint' }, hint),
          ),
          button({ type: 'submit', class: 'main tiny' }, 'Apply'),
        );
  return div(
    { ref: box, class: 'stack tight' },
    chosen === null ? null : span({ class: 'small quiet' }, words),
    chosen,
    free,
  );
}

/** The fields in which one filter is set. The first of them gets the focus. */
export const filterEditor = (editing: Editing): VNode => use(Editor, { ...editing, key: editing.one.name });
