// Shows how many heads are not outside the database yet.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { anchorKinds, countHeadsToAnchor } from './anchors.queries.js';
import { HeadAnchors } from './head-anchors.service.js';

@Injectable()
export class AnchorMetrics {
  constructor(database: Database, metrics: Metrics, anchors: HeadAnchors) {
    const waiting = metrics.gauge({
      name: 'concilia_heads_not_anchored',
      help: 'Heads of day closes that are not outside the database yet; 10000 at most.',
      labels: { kind: anchorKinds },
    });
    metrics.addReading('anchors', [waiting], async () => {
      for (const { kind, heads } of await countHeadsToAnchor(database.prisma, anchors.kinds))
        waiting.set({ kind }, heads);
    });
  }
}
