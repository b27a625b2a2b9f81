import Router, { type RouterContext } from '@koa/router';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Context } from 'koa';
import { createPlainRoutes, type PlainLine } from './plain-routes.ts';

interface Line extends PlainLine {
  /** The route also answers all paths below its path that have no route of their own. */
  below?: true;
}

interface Parts<Served extends Line> {
  lines: readonly Served[];
  /** The paths where an unknown method is answered 405 with `Allow`. On other paths it is answered 403. */
  strictPaths: readonly string[];
  /**
   * Answers a request for a route. Parameters are percent-decoded; one that cannot be decoded is passed on as received,
   * and checkPathParameters refuses it.
   */
  serve(context: Context, line: Served, params: Record<string, string>): Promise<void>;
}

/**
 * Registers a table of routes. When two paths match, the path with fewer parameters wins: `GET /devices/status` is a
 * route, while for every other method `status` is a `{deviceId}`. `plain-routes.ts` finds the routes of plain paths, and
 * @koa/router decides about all others. It tries its routes one after another, and each of them may look at the whole
 * path. So there is one router for each number of segments, which compares a request with a few routes instead of all.
 * The returned function throws WRONG_URL and METHOD_NOT_ALLOWED.
 */
export function createRouter<Served extends Line>({ lines, strictPaths, serve }: Parts<Served>) {
  checkTable(lines);
  const strictPatterns = strictPaths.map(patternOf);
  const routers = new Map<number, ReturnType<Router['routes']>>();

  function refuse({ matched = [] }: RouterContext): never {
    const strict = matched.filter(({ path }) => strictPatterns.includes(String(path)));
    if (strict.length > 0) {
      const allow = strict.flatMap(({ methods }) => methods).join(', ');
      throw new DomainError('METHOD_NOT_ALLOWED', { values: { allow } });
    }
    throw new DomainError('WRONG_URL');
  }

  /** The router of the paths with so many slashes. It is made at its first use, because plain paths do without it. */
  function routerFor(slashes: number): ReturnType<Router['routes']> | undefined {
    const known = routers.get(slashes);
    const own = known ? [] : lines.filter(({ path }) => slashesIn(path) === slashes);
    if (own.length === 0) return known;
    const router = new Router({ exclusive: 'specificity', sensitive: true, strict: true });
    router.on('not-found', refuse);
    for (const line of own) {
      const layer = router.register(patternOf(line.path), [line.method], (context) =>
        serve(context, line, context.params),
      );
      layer.methods = line.head ? [line.method, 'HEAD'] : [line.method]; // by default the router would answer HEAD wherever it has GET
    }
    const made = router.routes();
    routers.set(slashes, made);
    return made;
  }

  const own = lines.filter(({ below }) => !below).map(({ path }) => path.split('/'));
  const isOwn = (path: string): boolean => {
    const segments = path.split('/');
    return own.some(
      (names) =>
        names.length === segments.length && names.every((name, at) => name[0] === '{' || name === segments[at]),
    );
  };
  const trees = lines.filter(({ below }) => below);

  /** Finds the route that answers all paths below its path, when no other route has this path. */
  function treeOf(path: string, method: string): Served | undefined {
    const tree = trees.find((line) => path.startsWith(`${line.path}/`));
    if (!tree || isOwn(path)) return undefined;
    return method === tree.method || (tree.head && method === 'HEAD') ? tree : undefined;
  }
  const plainRoute = createPlainRoutes(lines);

  async function ask(context: Context, path: string): Promise<void> {
    const dispatch = path === '' ? undefined : routerFor(slashesIn(path));
    if (!dispatch) throw new DomainError('WRONG_URL');
    const routed = context as RouterContext;
    routed.newRouterPath = path; // the path as it was received, which Koa would otherwise decode from the URL again
    await dispatch(routed, NOBODY_ELSE);
  }

  return (context: Context, path: string): Promise<void> => {
    const { method } = context;
    const tree = treeOf(path, method);
    if (tree) return serve(context, tree, {});
    const plain = plainRoute(method, path);
    return plain ? serve(context, plain.line, plain.params) : ask(context, path);
  };
}

const patternOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

const NOBODY_ELSE = (): Promise<void> => Promise.resolve();

function slashesIn(path: string): number {
  let count = 0;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) count += 1;
  return count;
}

/** Throws when a table has a route twice, or gives the parameter at one position of a path two names. */
function checkTable(lines: readonly Line[]): void {
  const known = new Set<string>();
  const names = new Map<string, string>();
  for (const { method, path } of lines) {
    let place = '';
    for (const segment of path.slice(1).split('/')) {
      const isParameter = segment.startsWith('{');
      place += isParameter ? '/{}' : `/${segment}`;
      if (!isParameter) continue;
      const name = names.get(place) ?? segment;
      if (name !== segment) throw new Error(`a path parameter has two names: ${name} and ${segment}`);
      names.set(place, segment);
    }
    if (known.has(`${method} ${place}`)) throw new Error(`two routes for ${method} ${path}`);
    known.add(`${method} ${place}`);
  }
}
