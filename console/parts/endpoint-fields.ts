import type { Child } from '../base/elements.ts';
import type { Endpoint } from '../base/rows.ts';
import { numberOf, typed } from '../base/typed.ts';
import { choice, textField } from './fields.ts';
import { whole } from './rollout-fields.ts';

/** The properties of an endpoint that a form changes. */
type Terms = Pick<Endpoint, 'url' | 'description' | 'types' | 'ordered' | 'ratePerSecond'>;

export const NEW_TERMS: Terms = { url: '', description: '', types: [], ordered: 'none', ratePerSecond: null };

/** The types of events in a text, separated by commas. */
export const typesIn = (text: string | undefined): string[] => (text ?? '').split(/[\s,]/).filter(Boolean);

export const typesField = (types: readonly string[], empty: string): Child =>
  textField({
    name: 'types',
    label: 'Types of events',
    value: types.join(', '),
    hint: `As transaction.*, custom.sos. Empty: ${empty}.`,
  });

export const termsFields = ({ url, description, types, ordered, ratePerSecond }: Terms): Child[] => [
  textField({ name: 'url', label: 'URL', value: url, required: true }, { type: 'url', placeholder: 'https://' }),
  textField(
    { name: 'description', label: 'Description', value: description, hint: 'A name for people.' },
    { maxLength: 200 },
  ),
  typesField(types, 'all'),
  choice(
    {
      name: 'ordered',
      label: 'Order',
      value: ordered,
      hint: 'In order, an event that fails holds up the later ones of its device, and of no other.',
    },
    [
      ['none', 'events are sent side by side'],
      ['device', 'the events of each device in order'],
    ],
  ),
  textField(
    {
      name: 'ratePerSecond',
      label: 'New events a second, at most',
      value: String(ratePerSecond ?? ''),
      hint: 'Empty: no limit.',
    },
    whole(1, 1_000),
  ),
];

export const schemeField = (scheme = 'v1'): Child =>
  choice({ name: 'signatures', label: 'Signature', value: scheme }, [
    ['v1', 'v1: with a secret that the receiver shares'],
    ['v1a', 'v1a: with a key pair, whose public key the receiver has'],
  ]);

export const readTerms = (data: FormData): Terms => ({
  url: typed(data, 'url') ?? '',
  description: typed(data, 'description') ?? '',
  types: typesIn(typed(data, 'types')),
  ordered: data.get('ordered') === 'device' ? 'device' : 'none',
  ratePerSecond: numberOf(data, 'ratePerSecond') ?? null,
});
