/** One event of a stream of server-sent events. */
export interface StreamEvent {
  event: string;
  data: string;
}

/**
 * Reads server-sent events (HTML, 9.2) from a response, until it ends or `signal` aborts. EventSource is not used,
 * because it cannot send headers.
 */
export async function* eventsOf(response: Response): AsyncGenerator<StreamEvent> {
  if (!response.body) return;
  /** The pieces that have arrived of the line whose end has not. */
  let pieces: string[] = [];
  let event = 'message';
  let data: string[] = [];
  for await (const piece of response.body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
    pieces.push(piece);
    if (!piece.includes('\n')) continue; // the pieces of a long line are joined once, at its end
    const lines = pieces.join('').split('\n');
    pieces = [lines.pop() ?? ''];
    for (const ended of lines) {
      const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended;
      if (line === '') {
        if (data.length > 0) yield { event, data: data.join('\n') };
        event = 'message';
        data = [];
      } else if (line.startsWith('event:')) event = line.slice(6).trim();
      else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    }
  }
}
