/*
 * Without this: the price of each call is a search through all lists for up to 16 names; costs 0.1 ms and more a call,
 * where the whole way of an envelope into the log takes 0.13 ms.
 */
/** Models with a price that is kept. */
const MAX_KEPT = 4096
/** Providers of one model whose prices are kept; agents write the names of providers. */
const MAX_PROVIDERS = 16
/** Prices of some providers change with the time of day, at the earliest each half hour. Milliseconds. */
const PRICE_PERIOD_MS = 1_800_000

interface Kept<Price> {
  readonly provider: string | undefined
  period: number
  price: Price
}

type Search<Price> = (model: string, provider: string | undefined, at: number) => Price

/**
 * A search that keeps its last result for each of the last 4,096 models and each of their providers. A result is
 * searched again after a half hour of the calls' time.
 */
export const keepPrices = <Price>(search: Search<Price>): Search<Price> => {
  const kept = new Map<string, Array<Kept<Price>>>()
  return (model, provider, at) => {
    const period = Math.floor(at / PRICE_PERIOD_MS)
    const ofModel = kept.get(model)
    const known = ofModel?.find((each) => each.provider === provider)
    if (known !== undefined) {
      if (known.period !== period) {
        known.price = search(model, provider, at)
        known.period = period
      }
      return known.price
    }
    const price = search(model, provider, at)
    const added: Kept<Price> = { provider, period, price }
    if (ofModel !== undefined && ofModel.length < MAX_PROVIDERS) ofModel.push(added)
    else {
      kept.delete(model)
      const [oldest] = kept.keys()
      if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
      kept.set(model, [added])
    }
    return price
  }
}
