/** Server-sent events, as an answer to a POST brings them: EventSource can only ask with GET. */
export interface SentEvent {
  name: string;
  data: unknown;
}

/** To be given the text so far, again and again; answers the events that have come since. */
export function eventReader(): (text: string) => SentEvent[] {
  let read = 0;
  return (text) => {
    const events: SentEvent[] = [];
    for (let end = text.indexOf('\n\n', read); end >= 0; end = text.indexOf('\n\n', read)) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(text.slice(read, end)) ?? [];
      read = end + 2;
      // Comments keep the connection alive.
      if (name !== undefined && data !== undefined) events.push({ name, data: JSON.parse(data) as unknown });
    }
    return events;
  };
}
