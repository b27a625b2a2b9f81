import { loadContracts } from '@lapel/schemas/contracts/contracts';
import { ERRORS } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import { SCOPES } from '../../src/core/applications/scopes.ts';
import { ROUTES as ADMIN_ROUTES } from '../../src/edge/admin/routes.ts';
import { ROUTES as API_ROUTES, STRICT_PATHS } from '../../src/edge/api/routes.ts';
import { ANY_SCOPE } from '../../src/edge/http/route.ts';
import { type Operation, readOpenApi, type Schema, schemaName } from './documents.ts';
import { SPECIFICATION } from './specification.ts';

const contracts = loadContracts();
const listeners = [
  { file: 'openapi.yaml', routes: API_ROUTES },
  { file: 'openapi-admin.yaml', routes: ADMIN_ROUTES },
] as const;

/** The statuses that the contract adds to a row. */
const ADDED = new Set([409, 413, 422, 429, 503]);
/**
 * The statuses that the table of errors adds to a row. Ops 7 and 15 have a path parameter that may be malformed (404),
 * op 15 also a package that may not exist. Op 8 has a scope and an application that may be foreign (403). Op 2 may name
 * the state that it changes (412).
 */
const ADDED_TO: Record<string, number[]> = { 'op 2': [412], 'op 7': [404], 'op 8': [403], 'op 15': [404] };

/** Errors in the form of another standard: OAuth, JSON-RPC; or with more in it. */
const OWN_SHAPES: ReadonlySet<string> = new Set(['rest/token-error', 'common/mcp-error', 'admin/health']);

const jsonSchema = (operation: Operation): string | undefined => {
  const schema = operation.requestBody?.content['application/json']?.schema;
  return schema && schemaName(schema);
};

/** The rules of a schema, with references as they are written in a document of the folder above. */
const inDocument = (rules: object): unknown => JSON.parse(JSON.stringify(rules).replaceAll('"../', '"./'));

for (const { file, routes } of listeners) {
  const { operations } = readOpenApi(file);
  const table = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  const each = (check: (operation: Operation, route: (typeof routes)[number], key: string) => void): void => {
    for (const [key, operation] of operations) {
      const route = table.get(key);
      if (route) check(operation, route, key);
    }
  };

  t.test(`${file}: documents exactly the routes that are served`, async (t) => {
    t.same([...operations.keys()].sort(), [...table.keys()].sort());
  });

  t.test(`${file}: a route needs the token and the scope that its operation documents`, async (t) => {
    each((operation, route, key) => {
      const [requirement] = operation.security;
      if (file === 'openapi-admin.yaml') {
        t.equal(requirement ? operation['x-role'] : null, route.scope, key);
        if (requirement) t.ok(operation.responses['403'], `${key} documents 403, for a role that does not permit it`);
      } else {
        const scopes = requirement?.['applicationToken'];
        t.equal(scopes ? (scopes[0] ?? ANY_SCOPE) : null, route.scope, key);
      }
      if (requirement) t.ok(operation.responses['401'], `${key} documents 401`);
    });
  });

  t.test(`${file}: a route reads the body that its operation documents`, async (t) => {
    each((operation, route, key) => {
      t.equal(jsonSchema(operation), route.body, key);
      const form = operation.requestBody?.content['application/x-www-form-urlencoded']?.schema;
      t.equal(form && schemaName(form), route.form, `${key} form`);
      t.equal(operation.requestBody?.required === false, route.bodyOptional === true, `${key} required`);
      const streamed = operation.requestBody?.content['application/x-ndjson'] !== undefined; // of any size
      t.equal(operation.responses['413'] !== undefined, operation.requestBody !== undefined && !streamed, `${key} 413`);
    });
  });

  t.test(`${file}: a route reads the query that its operation documents, with the same rules`, async (t) => {
    each((operation, route, key) => {
      const properties = route.query ? (contracts.documents.get(route.query)?.properties ?? {}) : {};
      const documented = operation.parameters.filter((parameter) => parameter.in === 'query');
      t.same(documented.map(({ name }) => name).sort(), Object.keys(properties).sort(), key);
      for (const { name, schema } of documented) {
        const { description: _, $ref, ...rules } = properties[name] as { description?: string; $ref?: string };
        if ($ref === undefined) t.same(schema, inDocument(rules), `${key} ${name}`);
        else t.equal(schemaName(schema), $ref.replace(/^\.\.\/(.+)\.json$/, '$1'), `${key} ${name}`);
      }
    });
  });

  t.test(`${file}: path parameters are those of the path`, async (t) => {
    each((operation, route, key) => {
      const names = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      t.same(names.sort(), [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).sort(), key);
    });
  });

  t.test(`${file}: every error status is one of the table of errors, in its shape`, async (t) => {
    const rows = Object.values(ERRORS);
    const shapes = (status: number): string[] =>
      [...new Set(rows.filter((row) => row.status === status).map((row) => `common/${row.shape}-error`))].sort();
    const named = (schema: Schema): string[] =>
      ('oneOf' in schema ? schema.oneOf.map(schemaName) : [schemaName(schema)]).sort();
    each((operation, _, key) => {
      for (const [status, response] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        const schema = response.content?.['application/json']?.schema;
        if (!schema) {
          t.fail(`${key} ${status} has no body`);
        } else if (!named(schema).every((name) => OWN_SHAPES.has(name))) {
          for (const name of named(schema)) t.ok(shapes(Number(status)).includes(name), `${key} ${status} ${name}`);
        }
      }
      t.ok(operation.responses['500'], `${key} documents 500`);
    });
  });

  t.test(
    `${file}: every schema that it refers to is a file, every operation has its own id and a summary`,
    async (t) => {
      const ids = new Set<string>();
      each((operation, _, key) => {
        t.ok(operation.summary, key);
        ids.add(operation.operationId);
        for (const response of Object.values(operation.responses)) {
          for (const { schema } of Object.values(response.content ?? {})) {
            if ('$ref' in schema) t.ok(contracts.documents.has(schemaName(schema)), `${key} ${schema.$ref}`);
          }
          t.ok(response.headers['X-Request-Id'], `${key} documents X-Request-Id`);
        }
      });
      t.equal(ids.size, operations.size);
      // Generators of clients name functions after the id, and the typed client has the same names.
      each((operation, route, key) => {
        if (route.scope !== null) t.equal(operation.operationId, route.name, key);
      });
    },
  );
}

t.test('every operation of the specification that is served has all statuses of its row', async (t) => {
  const { operations } = readOpenApi('openapi.yaml');
  for (const [row, { key, scope, statuses }] of Object.entries(SPECIFICATION)) {
    const operation = operations.get(key);
    t.equal(operation?.['x-specification-row'], row, key);
    t.same(operation?.security, [{ applicationToken: [scope] }], key);
    const documented = Object.keys(operation?.responses ?? {}).map(Number);
    const added = (status: number): boolean => ADDED.has(status) || (ADDED_TO[row] ?? []).includes(status);
    t.same(
      documented.filter((status) => statuses.includes(status) || !added(status)),
      statuses,
      key,
    );
  }
});

t.test('405 is documented where it is answered', async (t) => {
  const { operations } = readOpenApi('openapi.yaml');
  const paths = [...operations].filter(([, { responses }]) => responses['405']).map(([key]) => key.split(' ')[1]);
  t.same(paths, STRICT_PATHS);
});

t.test('the scopes of the token endpoint are the documented ones', async (t) => {
  const { operations } = readOpenApi('openapi.yaml');
  const used = new Set([...operations.values()].flatMap(({ security }) => security[0]?.['applicationToken'] ?? []));
  for (const scope of used) t.ok(Object.hasOwn(SCOPES, scope), scope);
});
