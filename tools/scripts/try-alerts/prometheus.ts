import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { freePort } from '../../harness/free-port.ts';
import { DEPLOY, shortenedRules } from './rules.ts';
import { until } from './until.ts';

interface Configuration {
  global: object;
  alerting?: object;
  scrape_configs: { job_name: string; static_configs?: unknown; file_sd_configs?: unknown }[];
}

interface Answer {
  status: string;
  error?: string;
  data: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** The example of a configuration, with short intervals, and with targets that a file names. */
function configuration(targets: string): string {
  const example = parse(readFileSync(join(DEPLOY, 'prometheus/prometheus.yml'), 'utf8')) as Configuration;
  const { alerting: _, scrape_configs: jobs, ...rest } = example;
  const alone = jobs
    .filter(({ job_name: name }) => name === 'lapel')
    .map(({ static_configs: __, ...job }) => ({
      ...job,
      file_sd_configs: [{ files: [targets], refresh_interval: '1s' }],
    }));
  const global = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' };
  return stringify({ ...rest, global, scrape_configs: alone });
}

/** Starts Prometheus on a free port, without targets. It ends when this process does. */
export async function startPrometheus(folder: string) {
  const targets = join(folder, 'targets.json');
  writeFileSync(targets, '[]');
  writeFileSync(join(folder, 'lapel.rules.yml'), shortenedRules());
  writeFileSync(join(folder, 'prometheus.yml'), configuration(targets));
  const port = await freePort();
  const at = `127.0.0.1:${port}`;
  const paths = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/samples`];
  const child = spawn('prometheus', [...paths, `--web.listen-address=${at}`, '--log.level=error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  async function query(expression: string): Promise<Answer> {
    const body = new URLSearchParams({ query: expression });
    return (await (await fetch(`http://${at}/api/v1/query`, { method: 'POST', body })).json()) as Answer;
  }
  await until(
    () => 'Prometheus answers',
    async () => {
      if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}`);
      return fetch(`http://${at}/-/ready`).then(
        ({ ok }) => ok || undefined,
        () => undefined,
      );
    },
  );
  return {
    query,
    /** The names of the alerts that fire. */
    async alerts(): Promise<ReadonlySet<string>> {
      const { data } = await query('ALERTS{alertstate="firing"}');
      return new Set(data.result.map(({ metric }) => metric['alertname'] ?? ''));
    },
    /**
     * Makes these services the targets, in place of the former ones, and waits until the first answer of each. `every` is
     * the time between two scrapes, and the longest that one may take.
     */
    async watch(job: string, services: readonly string[], every = '1s'): Promise<void> {
      const labels = { job, __scrape_interval__: every, __scrape_timeout__: every };
      const groups = services.length === 0 ? [] : [{ targets: services, labels }];
      writeFileSync(`${targets}.next`, JSON.stringify(groups));
      renameSync(`${targets}.next`, targets);
      await until(
        () => 'Prometheus has read all its targets',
        async () => {
          const { result } = (await query('up == 1')).data;
          const now = result.map(({ metric }) => `${metric['job']} ${metric['instance']}`).sort();
          const wanted = services.map((service) => `${job} ${service}`).sort();
          return now.join() === wanted.join() ? true : undefined;
        },
      );
    },
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
    },
  };
}
