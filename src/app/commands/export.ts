// Writes a file of the account whose key is CONCILIA_API_KEY. Names are in it where the key has the
// scope personal-data. An interrupted file has another name, so that it never looks complete.
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Argument, Option, type Command } from 'commander';
import {
  exportFormats,
  exportOpenBreaks,
  exportOverduePayments,
  exportTransactions,
  getAuditorPack,
} from '../../reporting/exports/exports.schema.js';
import { exportCertificates, exportDecisions } from '../../reporting/proofs/proofs.schema.js';
import { CommandFailure } from '../exit.js';
import {
  reports,
  serviceOf,
  showProgress,
  withUrl,
  type CommandResult,
  type ToService,
} from './definition.js';

const routes = {
  transactions: exportTransactions,
  breaks: exportOpenBreaks,
  'expected-payments': exportOverduePayments,
  certificates: exportCertificates,
  decisions: exportDecisions,
  'auditor-pack': getAuditorPack,
} as const;
const subjects = Object.keys(routes) as (keyof typeof routes)[];

interface ExportOptions extends ToService {
  format: (typeof exportFormats)[number];
  from?: string;
  to?: string;
  month?: string;
  delimiter: 'comma' | 'semicolon';
  output?: string;
}

async function exportFile(given: ExportOptions, subject = ''): Promise<CommandResult> {
  const { output, format, from, to, delimiter, month = '' } = given;
  const isWhole = ['certificates', 'decisions', 'auditor-pack'].includes(subject);
  const query = isWhole ? {} : { format, from, to, delimiter };
  const route = routes[subject as keyof typeof routes];
  const response = await serviceOf(given).open(route as typeof exportTransactions, {
    query: Object.fromEntries(Object.entries(query).filter(([, value]) => value)) as never,
    ...(subject === 'auditor-pack' && { params: { month } as never }),
  });
  const [, named] =
    /filename="([\w.-]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  const file = output ?? named ?? `${subject}.${format}`;
  const bytes = await write(response, file);
  return { text: [`${file}: ${bytes} bytes`], json: { file, bytes } };
}

async function write({ body }: Response, file: string): Promise<number> {
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      showProgress(`${file}: ${bytes} bytes`);
      done(null, chunk);
    },
  });
  const part = `${file}.part`;
  try {
    await pipeline(Readable.fromWeb(body as never), count, createWriteStream(part));
    await rename(part, file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new CommandFailure(
      `The file is incomplete (${code ?? message}): ${part} has ${bytes} bytes of it.`,
      { cause },
    );
  }
  return bytes;
}

export function exportCommand(command: Command): void {
  withUrl(command)
    .addArgument(new Argument('<subject>', 'what is exported').choices(subjects))
    .addOption(new Option('--format <format>').choices(exportFormats).default('csv'))
    .option('--from <day>', 'transactions: the first statement day; default: of this month')
    .option('--to <day>', 'transactions: the last statement day; default: today')
    .option('--month <month>', 'auditor-pack: 2026-11')
    .addOption(
      new Option('--delimiter <name>', 'of CSV; semicolon: with decimal commas')
        .choices(['comma', 'semicolon'])
        .default('comma'),
    )
    .option('--output <file>', 'default: the name that the service gives it');
  const example = 'export transactions --format ofx --from 2026-11-01 --to 2026-11-30';
  reports<ExportOptions>(command, example, (given, [subject]) => exportFile(given, subject));
}
