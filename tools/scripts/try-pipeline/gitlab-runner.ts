import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { folderIn, type Job, type Machine, runScript } from './runner.ts';

/** A job of GitLab, as far as a runner reads it. */
interface Template {
  variables?: Record<string, string>;
  script: string[];
  artifacts?: { paths?: string[]; reports?: { dotenv?: string } };
}

/** A job that extends one of an included file. */
export interface Extension {
  /** The file that is included, and its job. */
  include: string;
  extends: string;
  variables: Readonly<Record<string, string>>;
  /** The variables of the project; the values of masked ones do not show in the log. */
  project: Readonly<Record<string, string>>;
  masked: readonly string[];
}

/**
 * Runs a job that extends one of an included file, as the shell executor of GitLab does: its lines become one script for
 * bash with errexit and pipefail, and variables of the job take precedence over those of the template.
 */
export async function runOnGitLab(job: Extension, { folder, env, print, onOutput }: Machine): Promise<Job> {
  const template = (parse(readFileSync(job.include, 'utf8')) as Record<string, Template>)[job.extends];
  if (!template) throw new Error(`${job.include} has no job ${job.extends}`);
  const workspace = folderIn(folder, 'workspace');
  const secrets = job.masked.map((name) => job.project[name] ?? '').filter((value) => value !== '');
  let log = '';
  const show = (line: string): void => {
    const shown = secrets.reduce((text, secret) => text.replaceAll(secret, '[MASKED]'), line);
    log += `${shown}\n`;
    print(`${shown}\n`);
  };
  const script = join(folder, 'script.sh');
  const lines = template.script.map((line) => `echo '$ ${line.split('\n', 1)[0]?.replaceAll("'", "'\\''")}'\n${line}`);
  writeFileSync(script, `set -eo pipefail\n${lines.join('\n')}\n`);
  const exitCode = await runScript(['bash', script], {
    cwd: workspace,
    show,
    onOutput,
    env: {
      ...env,
      CI: 'true',
      GITLAB_CI: 'true',
      CI_PROJECT_DIR: workspace,
      ...template.variables,
      ...job.project,
      ...job.variables,
    },
  });
  show(exitCode === 0 ? 'Job succeeded' : `ERROR: Job failed: exit code ${exitCode}`);
  const read = (path: string | undefined): string =>
    path !== undefined && existsSync(join(workspace, path)) ? readFileSync(join(workspace, path), 'utf8') : '';
  const variables = read(template.artifacts?.reports?.dotenv)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
      if (name === '') throw new Error(`"${line}" is no line of a dotenv report`);
      return [name, value] as const;
    });
  return { exitCode, log, outputs: Object.fromEntries(variables), summary: read(template.artifacts?.paths?.[0]) };
}
