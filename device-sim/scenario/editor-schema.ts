import { ACTIONS, ROLLOUT } from '../customer/action.ts';
import { STAGES } from '../customer/figures.ts';
import { OPERATIONS } from '../customer/operator.ts';
import { RECEIVER_FAULTS } from '../customer/receiver-fault.ts';
import { FAULTS } from '../faults/fault.ts';
import { FIGURES } from '../report/figure-names.ts';
import { SERVICE_FAULTS } from '../service/service-fault.ts';
import { schemaText } from './check-shape.ts';
import { WEARERS } from './wearing.ts';

interface Schema {
  enum?: string[];
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  [member: string]: unknown;
}

/** A text that an editor offers, with its explanation (an extension of the schema that VS Code and others know). */
interface Snippet {
  readonly label: string;
  readonly body: string;
  readonly description: string;
}

const ofFigure = ([name, { about, unit }]: [string, (typeof FIGURES)[string]]): Snippet => {
  const measure = { ms: '< 1 s', bytes: '< 100 MB', '/s': '> 100 /s' };
  const text = `${name} ${unit ? measure[unit] : '== 0'}`;
  return { label: text, body: text, description: about };
};

const ofStage = (stage: string): Snippet => {
  const text = `p99(${stage}) < 2 s`;
  return { label: text, body: text, description: `99 % of the latencies from the request to the stage ${stage}` };
};

/**
 * Expectations with a known figure, or a percentile of a known stage. An editor marks all others; `check` says then what
 * is wrong with them.
 */
const knownExpectation = (): string => {
  const figures = Object.keys(FIGURES).join('|');
  const latency = `(?:p\\d{1,2}(?:\\.\\d+)?|p100|max)\\s*\\((?:${STAGES.join('|')})[^()]*\\)`;
  return `^\\s*(?:(?:${figures})\\s*(?:\\([^()]*\\))?|${latency})\\s*(?:==|!=|<=|>=|<|>)\\s*[\\d.]+\\s*(?:%|/s|[A-Za-z]*)\\s*$`;
};

/** Explains each word of an enumeration, in its order. */
function explain(schema: Schema | undefined, words: Readonly<Record<string, string>>): void {
  if (schema?.enum) schema['markdownEnumDescriptions'] = schema.enum.map((word) => words[word] ?? '');
}

const aboutAll = (all: Readonly<Record<string, { readonly about: string }>>, who = ''): Record<string, string> =>
  Object.fromEntries(Object.entries(all).map(([name, { about }]) => [name, who + about]));
const prefixed = (all: Readonly<Record<string, string>>, who: string): Record<string, string> =>
  Object.fromEntries(Object.entries(all).map(([name, about]) => [name, who + about]));

/**
 * The JSON Schema of scenarios for editors, as text. It has more than the schema by which scenarios are checked: the
 * figures and stages that expectations may name, and an explanation of each action and each fault.
 */
export function editorSchemaText(): string {
  const schema = JSON.parse(schemaText()) as { $defs: Record<string, Schema> };
  const { fault, action, receiverFault, serviceFault, writtenExpectation } = schema.$defs;
  explain(fault?.properties?.['fault'], aboutAll(FAULTS));
  explain(receiverFault?.properties?.['fault'], prefixed(RECEIVER_FAULTS, 'the receiver '));
  explain(serviceFault?.properties?.['fault'], SERVICE_FAULTS);
  explain(action?.properties?.['do'], {
    ...prefixed({ ...ACTIONS, ...ROLLOUT }, 'the customer '),
    ...aboutAll(WEARERS, 'the wearer '),
    ...prefixed(OPERATIONS, 'the operator '),
  });
  const known = {
    pattern: knownExpectation(),
    defaultSnippets: [...Object.entries(FIGURES).map(ofFigure), ...STAGES.map(ofStage)],
  };
  const [text, object] = writtenExpectation?.anyOf ?? [];
  Object.assign(text ?? {}, known);
  Object.assign(object?.properties?.['expect'] ?? {}, known);
  return `${JSON.stringify(schema, null, 2)}\n`;
}
