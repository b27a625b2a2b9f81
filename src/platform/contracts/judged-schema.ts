type Schema = Record<string, unknown>;

/**
 * The form in which a schema is judged. It says the same of a value, and bounds what saying it costs:
 *
 * - The counts of a list or a dictionary are judged before what is in it, which is looked at only when they hold: of a
 *   million items none is judged one by one.
 * - Members that the schema does not know are the keyword `knownMembers`, which stops at the bound of faults (or removes
 *   them: see createValidators).
 * - Texts are judged for what no database and no JSON writer keeps as it is (`plainText`).
 *
 * Throws for a pattern that has no sentence for people beside it (`x-pattern-message`), which a caller would be answered with.
 */
export function judgedSchema(schema: object, silent = false): Schema {
  const { properties, additionalProperties, items, ...rest } = schema as Schema;
  if (rest['pattern'] !== undefined && rest['x-pattern-message'] === undefined && !silent) {
    throw new Error(`the pattern ${JSON.stringify(rest['pattern'])} has no x-pattern-message`);
  }
  const judged: Schema = { ...rest };
  for (const key of ['if', 'then', 'else']) {
    if (isSchema(rest[key])) judged[key] = judgedSchema(rest[key], silent || key === 'if');
  }
  if (properties !== undefined) {
    const named = Object.entries(properties as Record<string, unknown>).map(
      ([name, one]) => [name, isSchema(one) ? judgedSchema(one, silent) : one] as const,
    );
    judged['properties'] = Object.fromEntries(named);
  }
  const contents: Schema[] = [];
  if (isSchema(items)) contents.push(behindCount(rest, 'maxItems', { items: judgedSchema(items, silent) }));
  if (additionalProperties === false) judged['knownMembers'] = Object.keys(properties ?? {});
  if (isSchema(additionalProperties)) {
    const member = judgedSchema(additionalProperties, silent);
    contents.push(behindCount(rest, 'maxProperties', { additionalProperties: member }));
  }
  if (contents.length > 0) judged['allOf'] = contents;
  const isText = [rest['type']].flat().includes('string') && rest['enum'] === undefined && rest['const'] === undefined;
  if (isText && !silent) judged['plainText'] = true;
  return judged;
}

const isSchema = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** What is judged only where the count holds that bounds it. */
const behindCount = (schema: Schema, count: string, contents: Schema): Schema =>
  schema[count] === undefined ? contents : { if: { not: { [count]: schema[count] } }, else: contents };
