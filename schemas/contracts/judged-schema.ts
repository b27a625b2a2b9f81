type Schema = Record<string, unknown>;

/**
 * Rewrites a schema into the form that is compiled. It accepts the same values, with a bounded cost of validation:
 *
 * - The count of a list or a dictionary is checked first, and its content only if the count is within the bound: a list of
 *   a million items is refused without a look at any item.
 * - Unknown members are the keyword `knownMembers`, which stops at the bound of faults (or removes the members: see
 *   createValidators).
 * - Texts are checked for characters that a database or a JSON writer cannot keep (`plainText`).
 *
 * Throws for a pattern without a sentence for people beside it (`x-pattern-message`), since that sentence is the caller's answer.
 */
export function judgedSchema(schema: object, silent = false): Schema {
  const { properties, additionalProperties, items, propertyNames, ...rest } = schema as Schema;
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
  if (isSchema(propertyNames)) {
    contents.push(behindCount(rest, 'maxProperties', { propertyNames: judgedSchema(propertyNames, silent) }));
  }
  if (contents.length > 0) judged['allOf'] = contents;
  const isText = [rest['type']].flat().includes('string') && rest['enum'] === undefined && rest['const'] === undefined;
  if (isText && !silent) judged['plainText'] = true;
  return judged;
}

const isSchema = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Makes a schema that checks the content of a list or a dictionary only when its count is within the bound. */
const behindCount = (schema: Schema, count: string, contents: Schema): Schema =>
  schema[count] === undefined ? contents : { if: { not: { [count]: schema[count] } }, else: contents };
