/** One event of a stream of server-sent events. */
export interface StreamEvent {
  event: string;
  data: string;
}

/**
 * Reads server-sent events (HTML, 9.2) from a response, until it ends or `signal` aborts. EventSource would do, but sends no
 * headers.
 */
export async function* eventsOf(response: Response): AsyncGenerator<StreamEvent> {
  if (!response.body) return;
  let text = '';
  let event = 'message';
  let data: string[] = [];
  for await (const piece of response.body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
    text += piece;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = text.slice(0, end).replace(/\r$/, '');
      text = text.slice(end + 1);
      if (line === '') {
        if (data.length > 0) yield { event, data: data.join('\n') };
        event = 'message';
        data = [];
      } else if (line.startsWith('event:')) event = line.slice(6).trim();
      else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    }
  }
}
