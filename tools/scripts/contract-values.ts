import { readFileSync } from 'node:fs';

interface Property {
  description?: string;
  deprecated?: boolean;
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../schemas/${name}.json`, import.meta.url), 'utf8'));

const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;

/** Makes the TypeScript text of the settings with URLs, from the schemas. */
export function settingValues({ deprecated = false } = {}): string {
  const { enum: webhooks } = read('common/webhook-setting') as { enum: string[] };
  const { properties } = read('rest/application-settings-update') as { properties: Record<string, Property> };
  const names = Object.keys(properties);
  const lines = names
    .filter((name) => !properties[name]?.deprecated)
    .map((name) => `  ${name}: ${quoted(properties[name]?.description ?? '')},`);
  const old = names.filter((name) => properties[name]?.deprecated);
  return `/** The settings whose URLs get webhooks; the others are asked for upload URLs. */
export const WEBHOOK_SETTINGS = [${webhooks.map(quoted).join(', ')}] as const;

/** The settings of an application that hold URLs, with the requests that each URL gets. */
export const URL_SETTINGS = {
${lines.join('\n')}
} as const;
${
  deprecated
    ? `
/** Settings that still hold URLs, which get no requests any more. */
export const DEPRECATED_URL_SETTINGS = [${old.map(quoted).join(', ')}] as const;
`
    : ''
}`;
}

/** Makes the TypeScript text of the names of the operations of devices, from the schema. */
export function operationNames(): string {
  const { enum: names } = read('common/operation') as { enum: string[] };
  return `/** The operations that a transaction carries out on its device. */
export const TRANSACTION_OPERATIONS = [
${names.map((name) => `  ${quoted(name)},`).join('\n')}
] as const;
`;
}
