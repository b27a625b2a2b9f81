import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROCESS_METRICS } from '../../../test/operations/known-metrics.ts';
import type { Prometheus } from './prometheus.ts';
import { DEPLOY } from './rules.ts';

/** The expressions of all dashboards, for one service, with values in place of their variables. */
const expressionsOfDashboards = (): string[] =>
  readdirSync(join(DEPLOY, 'grafana')).flatMap((file) => {
    const { panels } = JSON.parse(readFileSync(join(DEPLOY, 'grafana', file), 'utf8')) as {
      panels: { targets: { expr: string }[] }[];
    };
    return panels.flatMap(({ targets }) =>
      targets.map(({ expr }) =>
        expr.replaceAll('$job', 'lapel').replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m'),
      ),
    );
  });

/** Asks Prometheus for everything that a dashboard shows, and looks for the metrics of the process. Returns a note. */
export async function tryExpressions({ query }: Pick<Prometheus, 'query'>, admin: string): Promise<string> {
  const expressions = expressionsOfDashboards();
  for (const expression of expressions) {
    const { status, error } = await query(expression);
    if (status !== 'success') throw new Error(`${expression}: ${error}`);
  }
  const text = await (await fetch(`${admin}/metrics`)).text();
  for (const name of [...PROCESS_METRICS].filter((name) => /^(process|nodejs)_/.test(name)))
    if (!text.includes(`\n${name} `)) throw new Error(`/metrics has no ${name}`);
  if (!/^lapel_memory_limit_bytes\{kind="process"\} [1-9]/m.test(text)) throw new Error('no limit of memory is told');
  return `${expressions.length} expressions`;
}
