// Serves the metrics to a scraper, in every role. Open like the health endpoints, unless a token is
// set.
import { Controller, Get, Header, Headers } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { Settings } from '../settings/config.js';
import { AppError } from '../errors.js';
import { Metrics } from '../metrics/metrics.js';
import { isSameSecret } from '../secret-box.js';

@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    private readonly settings: Settings,
  ) {}

  @Get()
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  @RouteConfig({ isForOperators: true })
  async scrape(@Headers('authorization') authorization = ''): Promise<string> {
    const { metricsToken } = this.settings;
    if (metricsToken !== null && !isSameSecret(authorization, `Bearer ${metricsToken}`))
      throw new AppError('unauthenticated', { headers: { 'WWW-Authenticate': 'Bearer' } });
    return this.metrics.scrape();
  }
}
