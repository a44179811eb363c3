import { Module } from '@nestjs/common';
import { TableStatistics } from './table-statistics.service.js';

@Module({ providers: [TableStatistics] })
export class TableStatisticsModule {}
