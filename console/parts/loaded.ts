import { button, type Child, div, p, span, type VNode } from '../base/elements.ts';
import { isPassing, type Loading } from '../base/load.ts';
import { RequestError } from '../base/requests.ts';
import { skeleton } from './show.ts';

/** Shows an error. With `again` it is that of a page, which reads again by itself after an error that passes. */
export function trouble(error: Error, again?: () => void): VNode {
  const isAway = error instanceof TypeError;
  const isTried = again !== undefined && isPassing(error);
  const text = [
    isAway
      ? 'The service cannot be reached.'
      : error.name === 'TimeoutError'
        ? 'The service did not answer.'
        : error.message,
    isTried ? 'The page is loaded again when it is back.' : isAway ? 'Try again when it is back.' : '',
  ].join(' ');
  const request = error instanceof RequestError && error.requestId !== null ? error.requestId : null;
  return div(
    { class: 'note bad row spread', role: 'alert' },
    p(null, text, request === null ? null : span({ class: 'small' }, ` (request ${request})`)),
    again ? button({ type: 'button', class: 'tiny', onClick: again }, 'Try again') : null,
  );
}

/**
 * Shows a value that is read from the service. Before it arrives a placeholder is shown; after an error, the error and
 * the last value.
 */
export function loaded<Value>(loading: Loading<Value>, show: (value: Value) => Child, { lines = 5 } = {}): Child {
  const { value, error } = loading.state.value;
  if (value === undefined) return error ? div({ class: 'pad' }, trouble(error, loading.again)) : skeleton(lines);
  return error ? [div({ class: 'pad' }, trouble(error, loading.again)), show(value)] : show(value);
}
