// The stylesheet, the icon and the scripts, served by the service itself. They are read at the
// first request to the console. Their addresses contain a hash of their content, so that browsers
// store them for ever.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { keyboardScript } from './keyboard.js';
import { stylesheet } from '../generated/console/styles.js';

export interface Asset {
  url: string;
  /** By which the browser checks what it loads. */
  integrity: string;
  content: string;
  contentType: string;
}

export interface Assets {
  stylesheet: Asset;
  htmx: Asset;
  keyboard: Asset;
  /** htmx's extension for server-sent events. */
  sse: Asset;
  icon: Asset;
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">' +
  '<rect width="16" height="16" rx="3" fill="#0b5cad"/>' +
  '<path d="M4 8.5l2.7 2.7L12 5.5" fill="none" stroke="#fff" stroke-width="2"/></svg>';

export const assetsPath = '/console/assets';

@Injectable()
export class ConsoleAssets {
  private loaded: Promise<Assets> | null = null;

  get(): Promise<Assets> {
    return (this.loaded ??= load());
  }
}

async function load(): Promise<Assets> {
  const [htmx, sse] = await Promise.all([
    readPackaged('htmx.org', 'dist/htmx.min.js'),
    readPackaged('htmx-ext-sse', 'dist/sse.min.js'),
  ]);
  return {
    stylesheet: assetOf('console', 'css', stylesheet, 'text/css'),
    htmx: assetOf('htmx', 'js', htmx, 'text/javascript'),
    sse: assetOf('sse', 'js', sse, 'text/javascript'),
    keyboard: assetOf('keyboard', 'js', keyboardScript, 'text/javascript'),
    icon: assetOf('icon', 'svg', icon, 'image/svg+xml'),
  };
}

async function readPackaged(name: string, path: string): Promise<string> {
  const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  return readFile(join(folder, path), 'utf8');
}

function assetOf(name: string, extension: string, content: string, type: string): Asset {
  const digest = createHash('sha384').update(content).digest();
  const tag = digest.toString('hex').slice(0, 16);
  return {
    url: `${assetsPath}/${name}-${tag}.${extension}`,
    integrity: `sha384-${digest.toString('base64')}`,
    content,
    contentType: `${type}; charset=utf-8`,
  };
}
