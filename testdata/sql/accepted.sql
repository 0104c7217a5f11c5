-- a count of rows
SELECT COUNT(*) FROM visits
=> one group; 1 per unit
=> rows 0..20
=> count(*) integer

-- a count of people does not need a row limit
SELECT COUNT(DISTINCT person) FROM visits
=> one group; 1 per unit
=> units 0..1
=> count(distinct person) integer

-- a count of people without a declared limit
SELECT COUNT(DISTINCT who) AS people FROM loose
=> one group; 1 per unit
=> units 0..1
=> people integer

-- a count of values that are not NULL
SELECT COUNT(score) FROM visits
=> one group; 1 per unit
=> count 0..20
=> count(score) integer

-- COUNT of a literal and of the unit are counts of rows
SELECT COUNT(1) AS a, COUNT(person) AS b, COUNT(*) AS c FROM visits
=> one group; 1 per unit
=> rows 0..20
=> a integer, b integer, c integer

-- a count of distinct values
SELECT COUNT(DISTINCT clinic) FROM visits
=> one group; 1 per unit
=> distinct 0..20
=> count(distinct clinic) integer

-- C6: a sum uses the declared bounds
SELECT SUM(cost) FROM visits
=> one group; 1 per unit
=> sum(2^-12) 0..81920000
=> sum(cost) number

-- SUM of a plain column is clamped to the declared total of a unit
SELECT SUM(minutes) FROM visits
=> one group; 1 per unit
=> sum(2^0) 0..600
=> sum(minutes) integer

-- bounds follow through expressions
SELECT SUM(cost * 0.5 - 100) AS s FROM visits
=> one group; 1 per unit
=> sum(2^-13) -16384000..65536000
=> s number

-- a query may write bounds that are not declared
SELECT SUM(LEAST(GREATEST(score, 0), 10)) AS s FROM visits
=> one group; 1 per unit
=> sum(2^0) 0..200
=> s integer

-- SmartNoise: AVG is one count and one centred sum, paid once
SELECT AVG(cost) FROM visits
=> one group; 1 per unit
=> count 0..20; sum(2^-13 from 500) -81920000..81920000
=> avg(cost) number

-- SUM beside AVG shares its statistics
SELECT SUM(cost), AVG(cost) FROM visits
=> one group; 1 per unit
=> sum(2^-13 from 500) -81920000..81920000; count 0..20
=> sum(cost) number, avg(cost) number

-- SUM with a declared total keeps its own statistic beside AVG
SELECT SUM(minutes), AVG(minutes) FROM visits
=> one group; 1 per unit
=> sum(2^0) 0..600; count 0..20; sum(2^0 from 120) -2400..2400
=> sum(minutes) integer, avg(minutes) number

-- Qrlew: a variance uses centred squares, not E[x^2] - E[x]^2
SELECT VAR_SAMP(age), VAR_POP(age) FROM visits
=> one group; 1 per unit
=> count 0..20; sum(2^0 from 60) -1200..1200; squares(2^0 from 60) 0..72000
=> var_samp(age) number, var_pop(age) number

-- STDDEV in all its names
SELECT STDDEV(cost) AS a, STDDEV_SAMP(cost) AS b, STDDEV_POP(cost) AS c FROM visits
=> one group; 1 per unit
=> count 0..20; sum(2^-13 from 500) -81920000..81920000; squares(2^-4 from 500) 0..80000000
=> a number, b number, c number

-- COUNT, SUM, AVG and VAR of one expression pay once
SELECT COUNT(cost), SUM(cost), AVG(cost), VAR_SAMP(cost) FROM visits
=> one group; 1 per unit
=> count 0..20; sum(2^-13 from 500) -81920000..81920000; squares(2^-4 from 500) 0..80000000
=> count(cost) integer, sum(cost) number, avg(cost) number, var_samp(cost) number

-- MIN and MAX are edge quantiles
SELECT MIN(age), MAX(age) FROM visits
=> one group; 1 per unit
=> histogram(2^0 from 0, 120 steps) 0..20
=> min(age) integer, max(age) integer

-- MEDIAN of numbers
SELECT MEDIAN(cost) FROM visits
=> one group; 1 per unit
=> histogram(2^-6 from 0, 64000 steps) 0..20
=> median(cost) number

-- several quantiles at once share a histogram
SELECT quantile(cost, 0.1) AS p10, quantile(cost, 0.5) AS p50, quantile(cost, 0.9) AS p90 FROM visits
=> one group; 1 per unit
=> histogram(2^-6 from 0, 64000 steps) 0..20
=> p10 number, p50 number, p90 number

-- PERCENTILE_CONT within a group
SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age) AS q FROM visits
=> one group; 1 per unit
=> histogram(2^0 from 0, 120 steps) 0..20
=> q integer

-- APPROX_PERCENTILE_CONT, both ways to write it
SELECT APPROX_PERCENTILE_CONT(age, 0.75) AS a, APPROX_PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY age DESC) AS b FROM visits
=> one group; 1 per unit
=> histogram(2^0 from 0, 120 steps) 0..20
=> a integer, b integer

-- quantiles of dates count days
SELECT MIN(day), MEDIAN(day) FROM visits
=> one group; 1 per unit
=> histogram(2^0 from 19723, 365 steps) 0..20
=> min(day) date, median(day) date

-- FILTER is a CASE
SELECT COUNT(*) FILTER (WHERE age < 18) AS young, SUM(cost) FILTER (WHERE insured) AS paid FROM visits
=> one group; 1 per unit
=> count 0..20; sum(2^-12) 0..81920000
=> young integer, paid number

-- people with a row that passes a filter: one value each
SELECT COUNT(DISTINCT person) FILTER (WHERE cost > 500) AS n FROM visits
=> one group; 1 per unit
=> distinct 0..1
=> n integer

-- people in a CASE: one value each
SELECT COUNT(DISTINCT CASE WHEN cost > 500 THEN person END) AS n FROM visits
=> one group; 1 per unit
=> distinct 0..1
=> n integer

-- public groups: all of them are answered
SELECT city, COUNT(*) FROM visits GROUP BY city
=> 3 public groups by city; 3 per unit
=> rows 0..20
=> city text, count(*) integer

-- public groups of two keys
SELECT city, insured, COUNT(*) FROM visits GROUP BY city, insured
=> 6 public groups by city, insured; 5 per unit enforced
=> rows 0..20
=> city text, insured boolean, count(*) integer

-- the limit on groups per unit applies if there are more public groups
SELECT city, EXTRACT(month FROM day) AS m, COUNT(*) FROM visits GROUP BY city, EXTRACT(month FROM day)
=> 36 public groups by city, date_part('MONTH', day); 5 per unit enforced
=> rows 0..20
=> city text, m integer, count(*) integer

-- private groups: the count of units is first, for the threshold
SELECT clinic, COUNT(*) FROM visits GROUP BY clinic
=> private groups by clinic; 5 per unit enforced
=> units 0..1; rows 0..20
=> clinic text, count(*) integer

-- one private key makes all groups private
SELECT city, clinic, COUNT(*) AS n FROM visits GROUP BY city, clinic
=> private groups by city, clinic; 5 per unit enforced
=> units 0..1; rows 0..20
=> city text, clinic text, n integer

-- COUNT(DISTINCT unit) shares the count of the threshold
SELECT clinic, COUNT(DISTINCT person) AS n FROM visits GROUP BY clinic
=> private groups by clinic; 5 per unit enforced
=> units 0..1
=> clinic text, n integer

-- keys by position and by alias
SELECT city AS c, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY c
=> 3 public groups by city; 3 per unit
=> rows 0..20
=> c text, n integer; order by 1

-- keys that are expressions: a CASE has a public list
SELECT CASE WHEN age < 18 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'old' END AS who, COUNT(*) AS n FROM visits GROUP BY 1
=> 3 public groups by case when age < 18 then 'young' when age < 65 then 'adult' else 'old' end; 3 per unit
=> rows 0..20
=> who text, n integer

-- keys that are expressions: buckets of a bounded column
SELECT bucket(age, 10) AS decade, COUNT(*) AS n FROM visits GROUP BY 1
=> 13 public groups by bucket(age, 10); 5 per unit enforced
=> rows 0..20
=> decade integer, n integer

-- keys that are expressions: months of bounded days
SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM visits GROUP BY 1
=> 12 public groups by date_trunc('month', day); 5 per unit enforced
=> rows 0..20
=> month date, n integer

-- keys that are expressions: hours of unbounded times
SELECT EXTRACT(hour FROM at) AS h, COUNT(*) AS n FROM visits GROUP BY 1
=> 24 public groups by date_part('HOUR', at); 5 per unit enforced
=> rows 0..20
=> h integer, n integer

-- keys that are expressions of public keys
SELECT upper(city) AS c, COUNT(*) AS n FROM visits GROUP BY 1
=> 3 public groups by upper(city); 3 per unit
=> rows 0..20
=> c text, n integer

-- more public groups than the limit: discovered in the data
SELECT day, age, COUNT(*) AS n FROM visits GROUP BY day, age
=> private groups by day, age; 5 per unit enforced
=> units 0..1; rows 0..20
=> day date, age integer, n integer

-- groups without an aggregate are those that pass partition selection
SELECT clinic FROM visits GROUP BY clinic
=> private groups by clinic; 5 per unit enforced
=> units 0..1
=> clinic text

-- SELECT DISTINCT at the top is the same
SELECT DISTINCT clinic FROM visits
=> private groups by clinic; 5 per unit enforced
=> units 0..1
=> clinic text

-- C8: HAVING, ORDER BY and LIMIT come after the noise
SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING COUNT(*) > 100 ORDER BY n DESC LIMIT 2 OFFSET 1
=> 3 public groups by city; 3 per unit
=> rows 0..20
=> city text, n integer; having; order by 1; offset 1; limit 2

-- C8: HAVING on another aggregate pays for it
SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING AVG(age) > 40
=> 3 public groups by city; 3 per unit
=> rows 0..20; count 0..20; sum(2^0 from 60) -1200..1200
=> city text, n integer; having

-- C8: ORDER BY an aggregate that is not shown
SELECT city FROM visits GROUP BY city ORDER BY COUNT(*) DESC
=> 3 public groups by city; 3 per unit
=> rows 0..20
=> city text; order by 1

-- C8: WHERE over a released subquery is HAVING
SELECT c, n FROM (SELECT city AS c, COUNT(*) AS n FROM visits GROUP BY city) t WHERE n > 10 ORDER BY n
=> 3 public groups by city; 3 per unit
=> rows 0..20
=> c text, n integer; having; order by 1

-- C8: expressions over aggregates
SELECT 100.0 * SUM(CASE WHEN insured THEN 1 ELSE 0 END) / COUNT(*) AS percent FROM visits
=> one group; 1 per unit
=> sum(2^0) 0..20; rows 0..20
=> percent number

-- DISTINCT over aggregates with all keys changes nothing
SELECT DISTINCT city, COUNT(*) AS n FROM visits GROUP BY city
=> 3 public groups by city; 3 per unit
=> rows 0..20
=> city text, n integer

-- names are short and in lower case
SELECT COUNT(*), SUM(visits.cost), AVG(age) FROM visits
=> one group; 1 per unit
=> rows 0..20; sum(2^-12) 0..81920000; count 0..20; sum(2^0 from 60) -1200..1200
=> count(*) integer, sum(cost) number, avg(age) number

-- WHERE with all kinds of total expressions
SELECT COUNT(*) FROM visits WHERE age BETWEEN 18 AND 65 AND city IN ('Berlin', 'Cairo') AND clinic LIKE 'St%' AND NOT insured AND score IS NOT NULL AND cost / minutes > 2 AND sqrt(cost) < 20
=> one group; 1 per unit
=> rows 0..20
=> count(*) integer

-- comparisons with dates and times as text
SELECT COUNT(*) FROM visits WHERE day >= '2024-02-01' AND at < '2024-06-01 12:00:00' AND day < at
=> one group; 1 per unit
=> rows 0..20
=> count(*) integer

-- C5: casts are total
SELECT COUNT(*) FROM visits WHERE CAST(clinic AS integer) > 3 AND CAST(age AS text) = '17' AND clinic::double > 0.5
=> one group; 1 per unit
=> rows 0..20
=> count(*) integer

-- date literals with interval literals
SELECT COUNT(*) FROM visits WHERE day >= DATE '2024-01-31' + INTERVAL '1' MONTH AND day < DATE '2024-12-31' - INTERVAL '10' DAY
=> one group; 1 per unit
=> rows 0..20
=> count(*) integer

-- text functions
SELECT COUNT(*) FROM visits WHERE lower(trim(clinic)) = 'x' AND substring(clinic FROM 1 FOR 2) = 'St' AND length(clinic) > 3 AND left(clinic, 1) || 'x' <> concat('a', clinic)
=> one group; 1 per unit
=> rows 0..20
=> count(*) integer

-- number functions
SELECT SUM(abs(round(cost, 2)) + floor(cost) + ceil(cost) + sign(cost)) AS s, SUM(mod(age, 10)) AS m FROM visits
=> one group; 1 per unit
=> sum(2^-10) 0..61460480; sum(2^0) 0..180
=> s number, m integer

-- COALESCE and NULLIF
SELECT SUM(COALESCE(cost, 0)) AS s, COUNT(NULLIF(city, 'Berlin')) AS n, COUNT(COALESCE(clinic, '?')) AS all_rows FROM visits
=> one group; 1 per unit
=> sum(2^-12) 0..81920000; count 0..20; rows 0..20
=> s number, n integer, all_rows integer

-- IS TRUE, IS DISTINCT FROM and ILIKE
SELECT COUNT(*) FROM visits WHERE insured IS TRUE AND clinic ILIKE 'ST%' AND insured IS NOT FALSE AND city IS DISTINCT FROM clinic
=> one group; 1 per unit
=> rows 0..20
=> count(*) integer

-- CASE of a value, with types that differ
SELECT SUM(CASE city WHEN 'Berlin' THEN 1 WHEN 'Cairo' THEN 2.5 END) AS s FROM visits
=> one group; 1 per unit
=> sum(2^-20) 0..52428800
=> s number

-- aliases and a subquery in FROM
SELECT AVG(t.c) AS m FROM (SELECT v.cost AS c FROM visits AS v WHERE v.age > 3) AS t
=> one group; 1 per unit
=> count 0..20; sum(2^-13 from 500) -81920000..81920000
=> m number

-- C2: a subquery keeps a unit that it does not select
SELECT k, COUNT(DISTINCT person) AS n FROM (SELECT upper(city) AS k, person FROM visits) t GROUP BY k
=> 3 public groups by k; 3 per unit
=> units 0..1
=> k text, n integer

-- WITH
WITH adults AS (SELECT * FROM visits WHERE age >= 18), costly AS (SELECT city, cost FROM adults WHERE cost > 10) SELECT city, AVG(cost) AS m FROM costly GROUP BY city
=> 3 public groups by city; 3 per unit
=> count 0..20; sum(2^-13 from 500) -81920000..81920000
=> city text, m number

-- a private table with a private one on the unit
SELECT p.sex, AVG(v.cost) AS m FROM visits v JOIN people p ON v.person = p.person GROUP BY p.sex
=> 2 public groups by sex; 2 per unit
=> count 0..20; sum(2^-13 from 500) -81920000..81920000
=> sex text, m number

-- USING
SELECT sex, COUNT(*) AS n FROM visits JOIN people USING (person) GROUP BY sex
=> 2 public groups by sex; 2 per unit
=> rows 0..20
=> sex text, n integer

-- NATURAL JOIN on the unit
SELECT sex, COUNT(*) AS n FROM visits NATURAL JOIN people GROUP BY sex
=> 2 public groups by sex; 2 per unit
=> rows 0..20
=> sex text, n integer

-- the join in WHERE
SELECT COUNT(*) FROM visits v, people p WHERE v.person = p.person AND p.income > 1000
=> one group; 1 per unit
=> rows 0..20
=> count(*) integer

-- LEFT JOIN of private tables keeps the left
SELECT p.sex, COUNT(*) AS n FROM visits v LEFT JOIN people p ON v.person = p.person AND p.income > 5 GROUP BY p.sex
=> 3 public groups by sex; 3 per unit
=> rows 0..20
=> sex text, n integer

-- RIGHT JOIN of private tables keeps the right
SELECT COUNT(v.cost) AS n FROM visits v RIGHT JOIN people p ON p.person = v.person
=> one group; 1 per unit
=> count 0..20
=> n integer

-- the unit of either side of a join
SELECT COUNT(DISTINCT p.person) AS a, COUNT(DISTINCT v.person) AS b FROM visits v JOIN people p ON v.person = p.person
=> one group; 1 per unit
=> units 0..1
=> a integer, b integer

-- private with public on anything
SELECT c.country, COUNT(*) AS n FROM visits v JOIN cities c ON v.city = c.city GROUP BY c.country
=> 3 public groups by country; 3 per unit
=> rows 0..20
=> country text, n integer

-- private LEFT JOIN public: NULL is one more key
SELECT c.country, COUNT(*) AS n FROM visits v LEFT JOIN cities c ON v.city = c.city GROUP BY c.country
=> 4 public groups by country; 4 per unit
=> rows 0..20
=> country text, n integer

-- public RIGHT JOIN private is the same
SELECT c.country, SUM(v.cost) AS s FROM cities c RIGHT JOIN visits v ON v.city = c.city AND c.population > 5 GROUP BY c.country
=> 4 public groups by country; 4 per unit
=> sum(2^-12) 0..81920000
=> country text, s number

-- private with public without a condition
SELECT COUNT(*) FROM visits CROSS JOIN cities
=> one group; 1 per unit
=> rows 0..20
=> count(*) integer

-- public tables joined with each other, then with a private one
SELECT COUNT(*) FROM (SELECT a.city FROM cities a JOIN cities b ON a.country = b.country) c JOIN visits v ON v.city = c.city
=> one group; 1 per unit
=> rows 0..20
=> count(*) integer

-- UNION ALL of tables of the same people
SELECT COUNT(*) AS n, COUNT(DISTINCT person) AS people FROM (SELECT person, cost AS x FROM visits UNION ALL SELECT person, income FROM people) t
=> one group; 1 per unit
=> rows 0..20; units 0..1
=> n integer, people integer

-- UNION ALL converts integers to numbers, and bounds are those of both
SELECT SUM(x) AS s FROM (SELECT age AS x FROM visits UNION ALL SELECT cost FROM visits) t
=> one group; 1 per unit
=> sum(2^-12) 0..81920000
=> s number

-- UNION with the unit is within each unit
SELECT COUNT(*) AS n FROM (SELECT person, city FROM visits UNION SELECT person, sex FROM people) t
=> one group; 1 per unit
=> rows 0..20
=> n integer

-- SELECT DISTINCT with the unit is within each unit
SELECT COUNT(*) AS n FROM (SELECT DISTINCT person, city FROM visits) t
=> one group; 1 per unit
=> rows 0..20
=> n integer

-- one row per unit: aggregates per person, then over all people
SELECT AVG(n) AS m, MEDIAN(n) AS q FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) t
=> one group; 1 per unit
=> count 0..1; sum(2^0 from 10) -10..10; histogram(2^0 from 0, 20 steps) 0..1
=> m number, q integer

-- sums per person are clamped to rows times bounds
SELECT AVG(s) AS m FROM (SELECT person, SUM(cost) AS s FROM visits GROUP BY person) t
=> one group; 1 per unit
=> count 0..1; sum(2^-8 from 10000) -2560000..2560000
=> m number

-- sums per person are clamped to the declared total
SELECT SUM(s) AS m FROM (SELECT person, SUM(minutes) AS s FROM visits GROUP BY person) t
=> one group; 1 per unit
=> sum(2^0) 0..600
=> m integer

-- one row per unit does not need a limit on groups
SELECT n, COUNT(*) AS people FROM (SELECT person, COUNT(DISTINCT city) AS n FROM visits GROUP BY person) t GROUP BY n
=> 21 public groups by n; 1 per unit
=> rows 0..1
=> n integer, people integer

-- other aggregates within a person
SELECT AVG(a) AS a, AVG(b) AS b, AVG(c) AS c FROM (SELECT person, MIN(cost) AS a, MAX(age) AS b, AVG(cost) AS c FROM visits GROUP BY person) t
=> one group; 1 per unit
=> count 0..1; sum(2^-13 from 500) -4096000..4096000; count 0..1; sum(2^0 from 60) -60..60; count 0..1; sum(2^-13 from 500) -4096000..4096000
=> a number, b number, c number

-- two one-row relations joined stay one row
SELECT AVG(t.n) AS m FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) t JOIN (SELECT person, MAX(income) AS i FROM people GROUP BY person) u ON t.person = u.person WHERE u.i > 1000
=> one group; 1 per unit
=> count 0..1; sum(2^0 from 10) -10..10
=> m number

-- HAVING within a person is a filter
SELECT COUNT(*) AS people FROM (SELECT person FROM visits GROUP BY person HAVING COUNT(*) > 3) t
=> one group; 1 per unit
=> rows 0..1
=> people integer

-- groups within a person
SELECT city, AVG(s) AS m FROM (SELECT person, city, SUM(cost) AS s FROM visits GROUP BY person, city) t GROUP BY city
=> 3 public groups by city; 3 per unit
=> count 0..20; sum(2^-8 from 10000) -51200000..51200000
=> city text, m number

-- C2: a unit of several columns
SELECT COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT house, member) AS people FROM pairs
=> one group; 1 per unit
=> rows 0..4; sum(2^-19) -16777216..16777216; units 0..1
=> n integer, s number, people integer

-- C2: a unit of several columns, joined on all of them
SELECT COUNT(*) AS n FROM pairs a JOIN pairs b ON a.house = b.house AND a.member = b.member WHERE a.x < b.x
=> one group; 1 per unit
=> rows 0..4
=> n integer

-- C2: several units share a part of the unit
SELECT COUNT(DISTINCT house) AS houses FROM pairs
=> one group; 1 per unit
=> distinct 0..1
=> houses integer

-- names with capitals are quoted
SELECT SUM("Total") AS s, COUNT(DISTINCT "UserId") AS n FROM "Mixed Case"
=> one group; 1 per unit
=> sum(2^0) 0..18; units 0..1
=> s integer, n integer

-- TPC-H Q1
SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price, SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price, SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc, COUNT(*) AS count_order
FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus
=> 6 public groups by l_returnflag, l_linestatus; 6 per unit
=> sum(2^-16 from 25.5) -321126400..321126400; count 0..200; sum(2^-5 from 52500) -336000000..336000000; count 0..200; sum(2^-4) 0..336000000; sum(2^-4) 0..362880000; count 0..200; sum(2^-25 from 0.05) -335544400..335544400; rows 0..200
=> l_returnflag text, l_linestatus text, sum_qty number, sum_base_price number, sum_disc_price number, sum_charge number, avg_qty number, avg_price number, avg_disc number, count_order integer; order by 2

-- TPC-H Q5, the customer in each private table
SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey AND l_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1994-01-01' + INTERVAL '1' YEAR
GROUP BY n_name ORDER BY revenue DESC
=> 3 public groups by n_name; 3 per unit
=> sum(2^-4) 0..336000000
=> n_name text, revenue number; order by 1

-- TPC-H Q6
SELECT SUM(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24
=> one group; 1 per unit
=> sum(2^-7) 0..268800000
=> revenue number

-- TPC-H Q14
SELECT 100.00 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) / SUM(l_extendedprice * (1 - l_discount)) AS promo_revenue FROM lineitem, part WHERE l_partkey = p_partkey AND l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-09-01' + INTERVAL '1' MONTH
=> one group; 1 per unit
=> sum(2^-4) 0..336000000; sum(2^-4) 0..336000000
=> promo_revenue number

-- TPC-H Q19: the join is in each alternative
SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem, part
WHERE (p_partkey = l_partkey AND p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX') AND l_quantity >= 1 AND l_quantity <= 1 + 10 AND p_size BETWEEN 1 AND 5 AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')
OR (p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX') AND l_quantity >= 10 AND l_quantity <= 10 + 10 AND p_size BETWEEN 1 AND 10 AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')
=> one group; 1 per unit
=> sum(2^-4) 0..336000000
=> revenue number

-- ORDER BY in a subquery has no effect and is dropped
SELECT COUNT(*) FROM (SELECT * FROM visits ORDER BY cost) t
=> one group; 1 per unit
=> rows 0..20
=> count(*) integer

-- expressions over public tables alone are free
SELECT COUNT(*) AS n FROM visits v JOIN (SELECT country, COUNT(*) AS towns, MAX(city) AS city FROM cities GROUP BY country) c ON v.city = c.city WHERE c.towns > 3
=> one group; 1 per unit
=> rows 0..20
=> n integer

-- counts per person without a row limit, clamped by the query
SELECT AVG(LEAST(n, 10)) AS m FROM (SELECT who, COUNT(*) AS n FROM loose GROUP BY who) t
=> one group; 1 per unit
=> rows 0..1; sum(2^0 from 5) -5..5
=> m number
