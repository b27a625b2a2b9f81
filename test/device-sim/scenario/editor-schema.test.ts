import { readFileSync } from 'node:fs';
import { schemaText } from '@lapel/device-sim/scenario/check-shape';
import { editorSchemaText } from '@lapel/device-sim/scenario/editor-schema';
import { readExpectation } from '@lapel/device-sim/scenario/expectation';
import { reportSchemaText } from '@lapel/device-sim/scenario/read-report';
import { readyFile, readyNames } from '@lapel/device-sim/scenario/ready';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { parse } from 'yaml';

type Schema = { [name: string]: Schema } & {
  $ref?: string;
  description?: string;
  enum?: string[];
  markdownEnumDescriptions?: string[];
  defaultSnippets?: { label: string; body: string; description: string }[];
};

const schema = JSON.parse(editorSchemaText()) as Schema;
const ajv = new Ajv2020({ strict: false });

const resolved = ({ $ref = '', ...rest }: Schema): Schema =>
  $ref === ''
    ? (rest as Schema)
    : $ref
        .split('/')
        .slice(1)
        .reduce((found, name) => found[name]!, schema);

/** All members that a scenario can have, with their paths in the schema. */
function membersIn(value: unknown, path: string): [string, Schema][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]): [string, Schema][] => {
    const deeper = membersIn(inner, `${path}/${name}`);
    if (name !== 'properties') return deeper;
    const own = Object.entries(inner as Record<string, Schema>).map(([member, one]): [string, Schema] => [
      `${path}/${member}`,
      one,
    ]);
    return [...own, ...deeper];
  });
}

t.test('every member of a scenario has its description in editors', async (t) => {
  const members = membersIn(schema, '');
  t.ok(members.length > 80);
  for (const [path, member] of members) t.ok(member.description ?? resolved(member).description, path);
});

t.test('editors explain each action and each fault', async (t) => {
  const explained = ['fault', 'receiverFault', 'serviceFault', 'action'].map((name) => {
    const { properties } = schema['$defs']![name]!;
    return properties!['fault'] ?? properties!['do']!;
  });
  for (const { enum: words = [], markdownEnumDescriptions: texts = [] } of explained) {
    t.ok(words.length >= 3);
    t.equal(texts.length, words.length);
    for (const [at, word] of words.entries()) t.ok(Number(texts[at]?.length) > 10, word);
  }
});

t.test('the schemas of scenarios and reports obey JSON Schema', async (t) => {
  for (const text of [schemaText(), editorSchemaText(), reportSchemaText()]) {
    t.ok(ajv.validateSchema(JSON.parse(text) as object), ajv.errorsText());
  }
});

t.test('editors complete expectations, and mark those with an unknown figure', async (t) => {
  const isKnown = ajv.compile({ $defs: schema['$defs'], $ref: '#/$defs/writtenExpectation' });
  const snippets = schema['$defs']!['writtenExpectation']!['anyOf']![0]!.defaultSnippets ?? [];
  t.ok(snippets.length > 50);
  for (const { body, description } of snippets) {
    t.not(typeof readExpectation(body, null), 'string', body);
    t.ok(isKnown(body), body);
    t.ok(description.length > 5, body);
  }
  for (const name of readyNames()) {
    const { expectations } = parse(readFileSync(readyFile(name), 'utf8')) as { expectations: unknown[] };
    for (const one of expectations) t.ok(isKnown(one), `${name}: ${JSON.stringify(one)}`);
  }
  for (const wrong of ['losst == 0', 'lost = 0', 'p99(nowhere) < 1 s', 'lost']) t.notOk(isKnown(wrong), wrong);
});
