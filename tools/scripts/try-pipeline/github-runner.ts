import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { folderIn, type Job, type Machine, runScript } from './runner.ts';

/** A composite action, as far as a runner reads it. */
interface Action {
  inputs?: Record<string, { default?: string }>;
  outputs?: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
}
interface Step {
  id?: string;
  shell: string;
  env?: Record<string, string>;
  run: string;
}

/** A step of a workflow that uses an action, with the values of the contexts that its expressions name. */
export interface Use {
  /** The file `action.yml`. */
  action: string;
  with: Readonly<Record<string, string>>;
  /** `github.sha`, `secrets.NAME`, `vars.NAME` ... */
  contexts: Readonly<Record<string, string>>;
  /** False: a runner without a file for summaries. */
  hasSummary?: boolean;
}

/** Puts values in the place of expressions. GitHub does the same with texts, whatever they contain. */
function evaluate(text: string, contexts: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{\{\s*([\w.-]+)\s*\}\}/g, (_, name: string) => {
    const value = contexts[name];
    if (value === undefined && !name.startsWith('steps.')) throw new Error(`the runner does not know ${name}`);
    return value ?? '';
  });
}

/** The values of a file of outputs: NAME=value, or NAME<<END with lines. */
function outputsIn(path: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = readFileSync(path, 'utf8').split('\n');
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    if (line === '') continue;
    const [, name = '', end] = /^([^=<]+)<<(.+)$/.exec(line) ?? [];
    if (end === undefined) {
      const at = line.indexOf('=');
      if (at < 0) throw new Error(`"${line}" is no output`);
      outputs[line.slice(0, at)] = line.slice(at + 1);
    } else {
      const value = lines.splice(0, lines.indexOf(end));
      lines.shift();
      outputs[name] = value.join('\n');
    }
  }
  return outputs;
}

/**
 * Runs a step that uses a composite action, as the runner of GitHub does: expressions become text, each step is a file that bash
 * runs with -e and pipefail, files take outputs, paths and the summary, and the log hides what ::add-mask:: names.
 */
export async function runOnGitHub(use: Use, machine: Machine): Promise<Job> {
  const { folder, env, print, onOutput } = machine;
  const action = parse(readFileSync(use.action, 'utf8')) as Action;
  if (action.runs.using !== 'composite') throw new Error(`${use.action} is no composite action`);
  const [workspace, temp] = [folderIn(folder, 'workspace'), folderIn(folder, 'temp')];
  const contexts: Record<string, string> = { ...use.contexts, 'github.action_path': dirname(use.action) };
  for (const [name, { default: fallback = '' }] of Object.entries(action.inputs ?? {}))
    contexts[`inputs.${name}`] = evaluate(use.with[name] ?? fallback, contexts);

  const masks = new Set(
    Object.entries(use.contexts).flatMap(([name, value]) => (name.startsWith('secrets.') ? [value] : [])),
  );
  let log = '';
  const show = (line: string): void => {
    const [, mask] = /^::add-mask::(.*)$/.exec(line) ?? [];
    if (mask !== undefined) masks.add(decodeURIComponent(mask));
    let shown = mask === undefined ? line : '::add-mask::***';
    for (const secret of masks) if (secret !== '') shown = shown.replaceAll(secret, '***');
    log += `${shown}\n`;
    print(`${shown}\n`);
  };

  let path = env['PATH'] ?? '';
  let exitCode = 0;
  let summary = '';
  for (const [index, step] of action.runs.steps.entries()) {
    const file = (name: string): string => {
      const made = join(temp, `${name}-${index}`);
      writeFileSync(made, '');
      return made;
    };
    const script = file('step.sh');
    writeFileSync(script, evaluate(step.run, contexts));
    const files = { output: file('output'), path: file('path'), summary: file('summary'), environment: file('env') };
    const own = Object.entries(step.env ?? {}).map(([name, value]) => [name, evaluate(value, contexts)] as const);
    show(`##[group]Run ${step.run.split('\n', 1)[0]}`);
    exitCode = await runScript(['bash', '--noprofile', '--norc', '-e', '-o', 'pipefail', script], {
      cwd: workspace,
      show,
      onOutput,
      env: {
        ...env,
        PATH: path,
        CI: 'true',
        GITHUB_ACTIONS: 'true',
        GITHUB_WORKSPACE: workspace,
        GITHUB_SHA: contexts['github.sha'] ?? '',
        GITHUB_REF_NAME: contexts['github.ref_name'] ?? 'main',
        GITHUB_ACTION_PATH: dirname(use.action),
        GITHUB_OUTPUT: files.output,
        GITHUB_PATH: files.path,
        GITHUB_ENV: files.environment,
        ...(use.hasSummary !== false && { GITHUB_STEP_SUMMARY: files.summary }),
        RUNNER_TEMP: temp,
        RUNNER_OS: 'Linux',
        ...Object.fromEntries(own),
      },
    });
    path = [...readFileSync(files.path, 'utf8').split('\n').filter(Boolean).reverse(), path].join(delimiter);
    for (const [name, value] of Object.entries(outputsIn(files.output)))
      if (step.id !== undefined) contexts[`steps.${step.id}.outputs.${name}`] = value;
    if (existsSync(files.summary)) summary += readFileSync(files.summary, 'utf8');
    show(exitCode === 0 ? '##[endgroup]' : `##[error]Process completed with exit code ${exitCode}.`);
    if (exitCode !== 0) break;
  }
  const outputs = Object.entries(action.outputs ?? {}).map(
    ([name, { value }]) => [name, evaluate(value, contexts)] as const,
  );
  return { exitCode, log, outputs: Object.fromEntries(outputs), summary };
}
