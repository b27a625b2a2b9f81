// Writes the tables of operations of both APIs, for the typed client, the command line, the simulator and the console, from
// the OpenAPI documents and the routes. With --check it writes nothing, and fails when a file is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ERRORS } from '@lapel/schemas/contracts/errors';
import { operationNames, settingValues } from './contract-values.ts';
import { ADMINISTRATION, API, answerOf, isStream, NUMBERS, operationsOf } from './documented-operations.ts';

/** The paths in the console's tables are relative to these paths. */
const BASES = { operator: '/admin/v1', application: '/v1/applications/{applicationId}' };

/** The TypeScript type of a schema: `./rest/wifi-settings.json` -> `SchemaTypes['rest/wifi-settings']`. */
const typeOf = (name: string): string => `SchemaTypes['${name}']`;
const nameOf = (reference: string): string => reference.replace(/^\.\/(.+)\.json$/, '$1');

/**
 * The routes without a token, except those for pages and documents: requests for tokens and sessions, probes and
 * metrics.
 */
const publicRoutes = [...API.routes, ...ADMINISTRATION.routes].filter(({ scope, head }) => scope === null && !head);

/**
 * The lines of the type of an operation: its description, its input and its answer. `given` is the parameter of the
 * path that the client itself fills in.
 */
function typeLines({ route, documented }: ReturnType<typeof operationsOf>[number], given?: string): string[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param);
  const input = names
    .filter((param) => param !== given)
    .map((param) => `${param}: ${NUMBERS.has(param) ? 'number' : 'string'}`);
  if (route.body !== undefined) input.push(`body${route.bodyOptional ? '?' : ''}: ${typeOf(route.body)}`);
  if (route.query !== undefined) {
    // A query may be left out, because its members have defaults. Only this query has a required member.
    const queryType = typeOf(route.query);
    const required = route.query === 'rest/connectivity-query';
    input.push(required ? `query: ${queryType}` : `query?: Partial<${queryType}>`);
  }
  if (documented.parameters?.some(({ $ref }) => /\/If(Match|Verdict)$/.test($ref ?? '')))
    input.push('ifMatch?: string');
  const schema = answerOf(documented);
  const inputType = input.length === 0 ? 'object' : `{ ${input.join('; ')} }`;
  const row = documented['x-specification-row'];
  return [
    `  /** ${documented.summary}${row === undefined ? '' : ` (${row})`}. */`,
    `  ${route.name}: { input: ${inputType}; answer: ${schema ? typeOf(nameOf(schema)) : 'undefined'} };`,
  ];
}

function apiTable(): string {
  const token = publicRoutes.find(({ name }) => name === 'issueToken');
  if (!token) throw new Error('no route is named issueToken');
  const operations = operationsOf(API).filter((one) => !isStream(one));
  const rows = operations.map(({ route: { name, method, path, scope }, documented: { parameters } }) => {
    const values = [`method: '${method}'`, `path: '${path}'`, `scope: '${scope}'`];
    if (parameters?.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey'))) values.push('repeatable: true');
    return `  ${name}: { ${values.join(', ')} },`;
  });
  return `// Generated from schemas/openapi.yaml by \`npm run generate\`; edit that instead.
// biome-ignore-all format: a table is read by its rows
import type { SchemaTypes } from '@lapel/schemas/contracts/types';

/** Every operation of the application API, with its input (apart from the application) and its answer. */
export interface Operations {
${operations.flatMap((one) => typeLines(one, 'applicationId')).join('\n')}
}

/** The method, the path and the scope of each operation. A repeatable one accepts an Idempotency-Key. */
export const OPERATIONS: Record<keyof Operations, { method: string; path: string; scope: string; repeatable?: true }> = {
${rows.join('\n')}
};

/** The request for an access token. */
export const TOKEN_REQUEST = { method: '${token.method}', path: '${token.path}' } as const;

${operationNames()}
${settingValues()}`;
}

function adminTable(): string {
  const operations = operationsOf(ADMINISTRATION).filter((one) => !isStream(one));
  const rows = operations.map(
    ({ route: { name, method, path } }) => `  ${name}: { method: '${method}', path: '${path}' },`,
  );
  return `// Generated from schemas/openapi-admin.yaml by \`npm run generate\`; edit that instead.
// biome-ignore-all format: a table is read by its rows
import type { SchemaTypes } from '@lapel/schemas/contracts/types';

/** Every operation of administration, with its input and its answer. */
export interface AdminOperations {
${operations.flatMap((one) => typeLines(one)).join('\n')}
}

/** The method and the path of each operation. */
export const ADMIN_OPERATIONS: Readonly<Record<keyof AdminOperations, { method: string; path: string }>> = {
${rows.join('\n')}
};
`;
}

function consoleTable(): string {
  const rows = (api: typeof API, base: string, hasRoles = false): string =>
    operationsOf(api)
      .filter(({ route: { path } }) => path === base || path.startsWith(`${base}/`))
      .map(
        ({ route: { name, method, path, scope } }) =>
          `  ${name}: { method: '${method}', path: '${path.slice(base.length)}'${hasRoles ? `, role: '${scope}'` : ''} },`,
      )
      .join('\n');
  return `// Generated from the routes of both APIs by \`npm run generate\`; edit those instead.
// biome-ignore-all format: a table is read by its rows

/** The operations of the operator, with the roles that they need; paths are relative to \`${BASES.operator}\`. */
export const OPERATOR = {
${rows(ADMINISTRATION, BASES.operator, true)}
} as const;

/** The operations of an application; paths are relative to \`${BASES.application}\`. */
export const APPLICATION = {
${rows(API, BASES.application)}
} as const;

/** The requests without a token of the API or of administration; paths are relative to the root of the service. */
export const PUBLIC = {
${publicRoutes.map(({ name, method, path }) => `  ${name}: { method: '${method}', path: '${path}' },`).join('\n')}
} as const;

/** The reasons why a sign-in through a provider has failed, by the codes of the errors. */
export const SIGN_IN_ERRORS: Readonly<Record<string, string>> = {
${Object.entries(ERRORS)
  .filter(([code, { text }]) => code.startsWith('SIGN_IN_') && !text.includes('{'))
  .map(([code, { text }]) => `  ${code}: '${text.charAt(0).toUpperCase()}${text.slice(1)}',`)
  .join('\n')}
};
`;
}

const outputs = {
  'client/operations.ts': apiTable(),
  'client/admin-operations.ts': adminTable(),
  'console/base/operations.ts': consoleTable(),
};
for (const [file, generated] of Object.entries(outputs)) {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  if (!process.argv.includes('--check')) {
    writeFileSync(path, generated);
  } else if (readFileSync(path, 'utf8') !== generated) {
    console.error(`${file} does not match the documents and routes. Run \`npm run generate\` and commit the result.`);
    process.exitCode = 1;
  }
}
