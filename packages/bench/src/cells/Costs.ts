/**
 * What a cell can do and what runs cost it. The costs are measured (docs/internals/scale.md names the measurement of
 * each); the machine and the limits of its database are what a team would choose.
 */
export interface CellCosts {
  /** Cores of a cell, the database's included. */
  readonly cores: number
  /** Share of the cores that the busiest minute may use: the rest is for reads, retention and restarts. */
  readonly busiest: number
  /** Bytes of WAL a second that the disk of the database sustains. */
  readonly walPerSecond: number
  /** Bytes that the database of a cell may hold. */
  readonly storage: number
  readonly retentionDays: number
  /** CPU of a run from its submission until it is bound, the database's included. Seconds. */
  readonly cpuOfRun: number
  /** CPU of an envelope that arrives by itself, sharing its transaction with others. Seconds. */
  readonly cpuOfEnvelope: number
  /** CPU of an envelope that is read in bulk, as after an outage. Seconds. */
  readonly cpuOfBulkEnvelope: number
  /** Bytes of an envelope: WAL, and about as much in tables and indexes. */
  readonly bytesOfEnvelope: number
  /** Bytes of an event in the archive; an envelope makes two events. */
  readonly archiveBytesOfEvent: number
  /** A list of runs in one cell at load: median and 99th percentile. Seconds. */
  readonly listMedian: number
  readonly list99: number
}

export const MEASURED: CellCosts = {
  cores: 16,
  busiest: 0.6,
  walPerSecond: 200e6,
  storage: 4e12,
  retentionDays: 30,
  cpuOfRun: 0.0062,
  cpuOfEnvelope: 0.00112,
  cpuOfBulkEnvelope: 0.00015,
  bytesOfEnvelope: 4_500,
  archiveBytesOfEvent: 150,
  listMedian: 0.012,
  list99: 0.043
}

/** What the users of the cells do. */
export interface Traffic {
  readonly runsPerDay: number
  /** Runs a day of a runtime on average; the largest runtimes have many times as many. */
  readonly runsOfRuntime: number
  /** About the most runs a day of one runtime, which is one process. */
  readonly mostRunsOfRuntime: number
  /** Median of a run's envelopes, and the standard deviation of their logarithm. */
  readonly envelopesMedian: number
  readonly envelopesSigma: number
  /** Most envelopes of a run. */
  readonly envelopesMost: number
  /** The busiest hour has so many times the runs of the average hour. */
  readonly peak: number
  /** Exponent of the sizes of runtimes by their rank (Zipf). */
  readonly skew: number
}

export const TYPICAL: Omit<Traffic, "runsPerDay"> = {
  runsOfRuntime: 20_000,
  mostRunsOfRuntime: 100_000,
  envelopesMedian: 25,
  envelopesSigma: 1.2,
  envelopesMost: 20_000,
  peak: 3,
  skew: 0.6
}
