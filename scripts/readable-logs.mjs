// Turns the service's JSON logs into readable lines. A line that is not a JSON record does not
// change.
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';

const levels = new Map([
  [10, ['TRACE', 'gray']],
  [20, ['DEBUG', 'gray']],
  [30, ['INFO', 'green']],
  [40, ['WARN', 'yellow']],
  [50, ['ERROR', 'red']],
  [60, ['FATAL', 'magenta']],
]);

/**
 * Copies `input` to `output` line by line; coloured where the output is a terminal that shows
 * colours.
 */
export function printReadable(input, output) {
  const isColoured = Boolean(output.isTTY && output.hasColors?.());
  createInterface({ input }).on('line', (line) =>
    output.write(`${readableLine(line, { isColoured })}\n`),
  );
}

/** `12:34:56.789 INFO  message field=value …`, and the stack of an error on the lines below. */
export function readableLine(line, { isColoured = false } = {}) {
  const record = parseRecord(line);
  if (!record) return line;
  const { level, time, msg = '', pid: _pid, name: _name, hostname: _host, err, ...fields } = record;
  const [label, colour] = levels.get(level) ?? [String(level), 'white'];
  const paint = (format, text) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text;
  const parts = [
    paint('gray', timeOfDay(time)),
    paint(colour, label.padEnd(5)),
    oneLine(msg),
    ...Object.entries(fields).map(([key, value]) => `${paint('cyan', key)}=${valueText(value)}`),
    ...(err ? [`${paint('cyan', 'err')}=${valueText(errorText(err))}`] : []),
  ];
  return [parts.join(' '), ...stackLines(err).map((frame) => paint('gray', `    ${frame}`))].join(
    '\n',
  );
}

function parseRecord(line) {
  if (!line.startsWith('{')) return undefined;
  try {
    const record = JSON.parse(line);
    return typeof record.level === 'number' ? record : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The local time of day, to the millisecond. */
function timeOfDay(time) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(time);
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${clock.join(':')}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

function valueText(value) {
  if (typeof value !== 'string') return JSON.stringify(value);
  return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

const oneLine = (text) => String(text).replace(/\s*\n\s*/g, ' ');

function errorText({ type, message, code }) {
  return `${type ?? 'Error'}${code ? ` (${code})` : ''}: ${message}`;
}

function stackLines(err) {
  if (!err) return [];
  const frames = String(err.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
  const { cause } = err;
  return cause ? [...frames, `cause: ${oneLine(errorText(cause))}`, ...stackLines(cause)] : frames;
}
