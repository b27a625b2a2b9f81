import { startFiguresPage } from './figures-page.ts';
import type { Shown } from './run-metrics.ts';

/** Where the figures of a run go while it lasts. */
interface Wanted {
  readonly figuresListen?: { readonly host: string; readonly port: number } | undefined;
  readonly otlpUrl?: string | undefined;
  readonly run: string;
}

/** Opens what the command line asks for, until the stack is disposed; the libraries of OpenTelemetry only for their use. */
export async function openFigures(
  { figuresListen, otlpUrl, run }: Wanted,
  stack: AsyncDisposableStack,
  onNote: (note: string) => void,
): Promise<{ show(run: Shown): void }> {
  const page = figuresListen && stack.use(await startFiguresPage(figuresListen));
  if (otlpUrl === undefined) return { show: (shown) => page?.show(shown) };
  const { startFiguresPush } = await import('./figures-push.ts');
  const push = stack.use(startFiguresPush(otlpUrl, { run, onNote }));
  return {
    show(shown) {
      page?.show(shown);
      push.show(shown);
    },
  };
}
