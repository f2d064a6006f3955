/** A share from 0 to 1 as `88 %`, or with decimals as `88.2 %`. */
export const percentText = (share: number, decimals = 0): string =>
  `${decimals === 0 ? Math.round(share * 100) : (share * 100).toFixed(decimals)} %`
