import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AppError } from '../platform/errors.js';
import { assetsPath, ConsoleAssets } from './assets.service.js';

/**
 * Serves the stylesheet, the icon and the scripts. An address names its content, which never
 * changes.
 */
@Controller()
export class AssetsController {
  constructor(private readonly assets: ConsoleAssets) {}

  @Get(`${assetsPath}/:name`)
  async get(@Param('name') name: string, @Res({ passthrough: true }) reply: FastifyReply) {
    const assets = Object.values(await this.assets.get());
    const found = assets.find(({ url }) => url === `${assetsPath}/${name}`);
    if (!found) throw new AppError('not_found');
    void reply.headers({
      'content-type': found.contentType,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    return found.content;
  }
}
