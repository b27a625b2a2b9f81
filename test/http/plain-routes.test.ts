import Router, { type RouterContext } from '@koa/router';
import { toDomainError } from '@lapel/schemas/contracts/errors';
import type { Context } from 'koa';
import t from 'tap';
import { ROUTES as ADMIN_ROUTES } from '../../src/edge/admin/routes.ts';
import { ROUTES as API_ROUTES, STRICT_PATHS } from '../../src/edge/api/routes.ts';
import { createPlainRoutes } from '../../src/edge/http/plain-routes.ts';
import type { Method } from '../../src/edge/http/route.ts';
import { createRouter } from '../../src/edge/http/router.ts';

type Line = Parameters<typeof createRouter>[0]['lines'][number];
type Found = (method: string, path: string) => Promise<string>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const reads = (...paths: string[]): Line[] => paths.map((path) => ({ method: 'GET' satisfies Method, path }));

/** Where the fixed segments say less than the number of parameters, and where lines are equal in that. */
const UNUSUAL = [
  ...reads('/{a}', '/{a}/{b}', '/{a}/{b}/{c}', '/{a}/x/{c}', '/x/{b}/{c}', '/{a}/x/y', '/x/{b}/y', '/x/y/{c}'),
  ...reads('/x/{b}/{c}/{d}', '/{a}/y/z/w', '/', '/x/', '/x'),
];

/** The route that createRouter finds, as text. */
function found(lines: readonly Line[], strictPaths: readonly string[]): Found {
  let seen: unknown;
  const serve = async (_: Context, { method, path }: Line, params: object) => {
    seen = [method, path, Object.entries(params)];
  };
  const dispatch = createRouter({ lines, strictPaths, serve });
  return async (method, path) => {
    seen = undefined;
    try {
      await dispatch({ method, request: {} } as Context, path);
    } catch (thrown) {
      const { code, values } = toDomainError(thrown);
      seen = [code, values.allow];
    }
    return JSON.stringify(seen);
  };
}

/** The route that the library finds with all lines in one router, as text. */
function foundByLibrary(lines: readonly Line[], strictPaths: readonly string[]): Found {
  const router = new Router({ exclusive: 'specificity', sensitive: true, strict: true });
  const patternOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');
  let seen: unknown;
  for (const { method, path, head } of lines) {
    const layer = router.register(patternOf(path), [method], ({ params }) => {
      seen = [method, path, Object.entries(params)];
    });
    layer.methods = head ? [method, 'HEAD'] : [method];
  }
  const strict = strictPaths.map(patternOf);
  router.on('not-found', ({ matched = [] }) => {
    const allow = matched.filter(({ path }) => strict.includes(String(path))).flatMap(({ methods }) => methods);
    seen = allow.length > 0 ? ['METHOD_NOT_ALLOWED', allow.join(', ')] : ['WRONG_URL', undefined];
  });
  const dispatch = router.routes();
  return async (method, path) => {
    seen = undefined;
    await dispatch({ method, request: {}, newRouterPath: path } as RouterContext, async () => undefined);
    return JSON.stringify(seen);
  };
}

const VALUES = ['v', 'status', '.', '..', 'a%2Fb%20c', '%zz', '__proto__', '\u00e9', 'a#b', ''];

/** The path of a line with each of the values for its parameters; and paths that are nearly this one. */
function pathsLike(path: string): string[] {
  const filled = VALUES.map((value) => path.replaceAll(/\{\w+\}/g, () => value));
  const [plain = ''] = filled;
  const segments = plain.split('/');
  const changed = ['', 'x', '%73'].flatMap((text) => segments.map((_, at) => segments.with(at, text).join('/')));
  const [first] = path.match(/\{\w+\}/) ?? [];
  const mixed = first === undefined ? [] : [path.replace(first, 'status').replaceAll(/\{\w+\}/g, '%41')];
  const near = [`${plain}/`, `/${plain}`, `${plain}//`, plain.toUpperCase(), plain.slice(0, -1), `${plain}/more`];
  return [...filled, ...changed, ...mixed, ...near].filter((one) => one !== '');
}

for (const [name, lines, strictPaths] of [
  ['the API', API_ROUTES, STRICT_PATHS],
  ['administration', ADMIN_ROUTES, []],
  ['unusual lines', UNUSUAL, ['/{a}/{b}']],
] as const) {
  t.test(`each path and method of ${name} finds what the library finds`, async (t) => {
    const own = lines.filter((line) => !('below' in line));
    const [ours, theirs] = [found(own, strictPaths), foundByLibrary(own, strictPaths)];
    const plainRoute = createPlainRoutes<Line>(own);
    const paths = new Set(own.flatMap(({ path }) => pathsLike(path)));
    const differences: string[] = [];
    let routes = 0;
    for (const path of paths) {
      for (const method of METHODS) {
        const expected = await theirs(method, path);
        const isRoute = expected.includes('/');
        if (isRoute) routes += 1;
        if (isRoute && !path.includes('%') && !plainRoute(method, path))
          differences.push(`${method} ${path} is left over`);
        const actual = await ours(method, path);
        if (actual !== expected) differences.push(`${method} ${path}: ${actual}, not ${expected}`);
      }
    }
    t.same(differences, []);
    t.ok(routes > own.length, 'and many of them are routes');
  });
}
