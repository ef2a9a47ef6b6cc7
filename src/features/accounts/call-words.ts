// What an advertiser's own words and the names of its parameters can be.

export const MAX_WORD = 100

export const isWord = (text: string) => text !== '' && text.length <= MAX_WORD && text.isWellFormed() && !/\p{Cc}/u.test(text) // prettier-ignore

export const isParameterName = (text: string) => isWord(text) && !/[\s&=#]/.test(text)

export const notAParameter = (name: string) => `"${name}" is not a valid parameter name: use 1 to ${MAX_WORD} characters, without spaces, &, = and #.` // prettier-ignore
