import type { Method } from './route.ts';

export interface PlainLine {
  method: Method;
  /** The path, with its parameters as `{name}`. */
  path: string;
  /** The line also answers HEAD. */
  head?: true;
}

/** The segments of a line's path, with their positions. */
interface Shape<Served> {
  line: Served;
  /** The last one comes first, because the paths of a table differ at their ends. */
  fixed: [at: number, text: string][];
  parameters: [at: number, name: string][];
}

/**
 * Makes the look-up of routes for paths without percent-encoding, which are nearly all: the lines with the method and the
 * number of segments are compared, those with fewer parameters first. The look-up returns undefined where it finds
 * nothing; then the router decides.
 */
export function createPlainRoutes<Served extends PlainLine>(lines: readonly Served[]) {
  const table = new Map<string, Shape<Served>[][]>();
  for (const line of lines) {
    const shape = shapeOf(line);
    for (const method of line.head ? [line.method, 'HEAD'] : [line.method]) {
      const ofMethod = table.get(method) ?? [];
      const count = line.path.split('/').length;
      ofMethod[count] = [...(ofMethod[count] ?? []), shape].sort((a, b) => a.parameters.length - b.parameters.length);
      table.set(method, ofMethod);
    }
  }

  return (method: string, path: string): { line: Served; params: Record<string, string> } | undefined => {
    if (path.includes('%')) return undefined;
    const segments = path.split('/');
    const shape = table.get(method)?.[segments.length]?.find((one) => fits(one, segments));
    if (!shape) return undefined;
    const params: Record<string, string> = {};
    for (const [at, name] of shape.parameters) params[name] = segments[at]!;
    return { line: shape.line, params };
  };
}

function shapeOf<Served extends PlainLine>(line: Served): Shape<Served> {
  const segments = [...line.path.split('/').entries()];
  const isParameter = ([, text]: [number, string]): boolean => text.startsWith('{');
  return {
    line,
    fixed: segments.filter((one) => !isParameter(one)).reverse(),
    parameters: segments.filter(isParameter).map(([at, text]) => [at, text.slice(1, -1)]),
  };
}

function fits({ fixed, parameters }: Shape<unknown>, segments: readonly string[]): boolean {
  for (const [at, text] of fixed) if (segments[at] !== text) return false;
  for (const [at] of parameters) if (segments[at] === '') return false;
  return true;
}
